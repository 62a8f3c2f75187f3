SELECT window_start, window_end, origin, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(ts), INTERVAL '1' DAY)) AS w
GROUP BY w.window_start, window_end, origin;
