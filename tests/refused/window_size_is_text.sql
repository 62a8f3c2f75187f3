-- error: a window's length is an INTERVAL, this is VARCHAR; write INTERVAL '1' HOUR
-- at: '1 hour'
SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(ts), '1 hour')) GROUP BY window_start, window_end;
