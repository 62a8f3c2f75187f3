-- error: FILTER belongs to an aggregate, not to FIRST_VALUE; write MAX_BY(delay, ts) FILTER (WHERE delay IS NOT NULL) OVER (PARTITION BY origin ORDER BY ts DESC)
-- at: FIRST_VALUE(delay) FILTER (WHERE delay IS NOT NULL) OVER (PARTITION BY origin ORDER BY ts DESC)
SELECT FIRST_VALUE(delay) FILTER (WHERE delay IS NOT NULL) OVER (PARTITION BY origin ORDER BY ts DESC) AS known FROM flights;
