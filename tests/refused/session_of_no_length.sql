-- error: a gap has a positive length; write INTERVAL '10' MINUTE
-- at: SESSION(ts, INTERVAL '0' SECOND)
SELECT origin, COUNT(*) FROM flights GROUP BY origin, SESSION(ts, INTERVAL '0' SECOND);
