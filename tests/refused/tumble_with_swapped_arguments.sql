-- error: the time column comes before the length of a window; write TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
-- at: INTERVAL '5' MINUTE
SELECT window_start, COUNT(*) AS n FROM TUMBLE(TABLE flights, INTERVAL '5' MINUTE, DESCRIPTOR(ts)) GROUP BY window_start, window_end;
