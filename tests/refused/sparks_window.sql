-- error: there is no function WINDOW; write FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE) with your table for t, and GROUP BY window_start, window_end
-- at: window(ts, '10 minutes')
SELECT window(ts, '10 minutes') AS w, COUNT(*) AS n FROM flights GROUP BY window(ts, '10 minutes');
