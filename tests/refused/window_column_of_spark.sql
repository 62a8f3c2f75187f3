-- error: there is no table or column window; write window_start and window_end, FROM TUMBLE(TABLE flights, DESCRIPTOR(ts), INTERVAL '1' HOUR)
-- at: window
SELECT window.start AS s, COUNT(*) AS n FROM flights GROUP BY window.start;
