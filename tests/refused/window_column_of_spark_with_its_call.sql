-- error: there is no table or column window; write window_start and window_end, FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE), and GROUP BY window_start, window_end
-- at: window
SELECT window.start, COUNT(*) AS n FROM flights AS f GROUP BY window(f.ts, '10 minutes');
