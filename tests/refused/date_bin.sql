-- error: there is no function DATE_BIN; write FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '15' MINUTE) with your table for t, and GROUP BY window_start, window_end
-- at: DATE_BIN('15 minutes', ts, TIMESTAMP '2001-01-01')
SELECT DATE_BIN('15 minutes', ts, TIMESTAMP '2001-01-01') FROM flights;
