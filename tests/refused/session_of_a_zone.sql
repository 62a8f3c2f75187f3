-- error: SESSION takes no time zone: a gap is as long in all of them; leave 'Europe/Berlin' out
-- at: 'Europe/Berlin'
SELECT window_start, COUNT(*) AS n FROM SESSION(flights PARTITION BY origin, DESCRIPTOR(ts), INTERVAL '10' MINUTE, 'Europe/Berlin') GROUP BY window_start, window_end, origin;
