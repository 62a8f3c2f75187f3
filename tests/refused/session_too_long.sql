-- error: this is longer than what can be added to any time; write at most 53375995 days
-- at: INTERVAL '99999999' DAY
SELECT origin, COUNT(*) FROM flights GROUP BY origin, SESSION(ts, INTERVAL '99999999' DAY);
