-- error: GROUPING SETS is not supported yet: write one GROUP BY for each set and UNION ALL
-- at: GROUPING SETS
SELECT origin, COUNT(*) FROM flights GROUP BY GROUPING SETS ((origin), ());
