-- error: ORDER BY stands behind LIMIT; write it before LIMIT
-- at: ORDER BY
SELECT * FROM (SELECT id, delay FROM flights LIMIT 3 ORDER BY delay) AS t WHERE delay > 1;
