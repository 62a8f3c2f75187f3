-- error: a window's length is an INTERVAL, this is VARCHAR; write for example INTERVAL '1' DAY
-- at: '1 hour'
SELECT COUNT(*) FROM TUMBLE(flights, ts, '1 hour') GROUP BY window_end;
