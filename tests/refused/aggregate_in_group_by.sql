-- error: COUNT is an aggregate: GROUP BY takes what is computed from single rows
-- at: COUNT(*)
SELECT COUNT(*) AS n FROM flights GROUP BY n;
