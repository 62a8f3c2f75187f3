-- error: FIRST_VALUE needs an order; write FIRST_VALUE(value ORDER BY time)
-- at: FIRST_VALUE(n)
SELECT FIRST_VALUE(n) FROM (SELECT origin, COUNT(*) AS n FROM flights GROUP BY origin) AS f;
