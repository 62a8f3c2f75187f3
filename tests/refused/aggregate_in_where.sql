-- error: COUNT is an aggregate: WHERE sees single rows; write HAVING behind GROUP BY, or compare with a subquery: a = (SELECT MAX(a) FROM t)
-- at: COUNT(*)
SELECT origin FROM flights WHERE COUNT(*) > 3 GROUP BY origin;
