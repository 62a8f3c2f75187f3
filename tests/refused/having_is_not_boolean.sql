-- error: HAVING needs a BOOLEAN, this is BIGINT; write a comparison
-- at: COUNT(*)
SELECT origin FROM flights GROUP BY origin HAVING COUNT(*);
