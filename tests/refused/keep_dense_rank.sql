-- error: KEEP is not supported; write MAX_BY(value, time) for the value with the last time, MIN_BY(value, time) for that with the first
-- at: KEEP
SELECT origin, MAX(delay) KEEP (DENSE_RANK LAST ORDER BY ts) AS d FROM flights GROUP BY origin;
