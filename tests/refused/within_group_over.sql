-- error: WITHIN GROUP with OVER is not supported; compute it by GROUP BY in a subquery, and join that to the rows by the key
-- at: PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY delay)
SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY delay) OVER (PARTITION BY origin) FROM flights;
