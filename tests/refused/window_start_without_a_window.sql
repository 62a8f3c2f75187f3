-- error: there is no column window_start in flights; a window has it: write FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(ts), INTERVAL '1' HOUR))
-- at: window_start
SELECT window_start, COUNT(*) AS n FROM flights GROUP BY window_start;
