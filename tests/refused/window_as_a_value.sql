-- error: TUMBLE stands in FROM, or as a key of GROUP BY alone; write FROM TUMBLE(TABLE t, DESCRIPTOR(ts), ...), and group by window_start and window_end
-- at: TUMBLE(ts, INTERVAL '1' HOUR)
SELECT origin, COUNT(*) FROM flights GROUP BY CUBE (TUMBLE(ts, INTERVAL '1' HOUR), origin);
