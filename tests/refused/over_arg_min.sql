-- error: ARG_MIN OVER is not supported; write FIRST_VALUE(origin) OVER (PARTITION BY ... ORDER BY delay NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
-- at: ARG_MIN(origin, delay)
SELECT ARG_MIN(origin, delay) OVER (PARTITION BY carrier) FROM flights;
