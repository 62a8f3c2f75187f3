-- error: PARTITION without BY; write PARTITION BY origin
-- at: PARTITION
SELECT id, SUM(delay) OVER (PARTITION origin ORDER BY ts) AS s FROM flights;
