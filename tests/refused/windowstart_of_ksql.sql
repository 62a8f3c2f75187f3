-- error: there is no column WINDOWSTART in flights; a window has it: write FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR)), and window_start or window_end
-- at: WINDOWSTART
SELECT WINDOWSTART, COUNT(*) FROM flights GROUP BY origin;
