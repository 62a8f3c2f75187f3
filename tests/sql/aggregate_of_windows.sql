-- Nexmark's q5: the second aggregate is over the first one's windows.
SELECT window_start, window_end, MAX(n) AS busiest
FROM (SELECT window_start, window_end, carrier, COUNT(*) AS n FROM TUMBLE(flights, ts, INTERVAL '1' MINUTE) GROUP BY window_start, window_end, carrier)
GROUP BY window_start, window_end;
