-- error: COUNT is an aggregate: WHERE sees single rows; write HAVING
-- at: COUNT(*)
SELECT origin FROM flights WHERE COUNT(*) > 3 GROUP BY origin;
