-- error: WHERE stands behind QUALIFY; write it before QUALIFY
-- at: WHERE
SELECT id FROM flights QUALIFY ROW_NUMBER() OVER (PARTITION BY origin ORDER BY ts) = 1 WHERE delay > 5;
