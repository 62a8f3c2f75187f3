-- error: PARTITION without BY; write PARTITION BY origin
-- at: PARTITION
SELECT id, SUM(delay) OVER w AS s FROM flights WINDOW w AS (PARTITION origin ORDER BY ts);
