-- error: IGNORE NULLS of LAST_VALUE OVER is not supported; write MAX_BY(delay, ts) FILTER (WHERE delay IS NOT NULL) OVER w
-- at: LAST_VALUE(delay IGNORE NULLS)
SELECT LAST_VALUE(delay IGNORE NULLS) OVER w AS known FROM flights WINDOW w AS (PARTITION BY origin ORDER BY ts);
