-- error: TUMBLE takes no PARTITION BY: its windows are the same for all keys; leave it out, and GROUP BY the keys beside window_start and window_end
-- at: PARTITION BY
SELECT window_start, origin, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE flights PARTITION BY origin, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end, origin;
