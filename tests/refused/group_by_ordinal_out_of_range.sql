-- error: GROUP BY 3: the select list has 2 columns
-- at: 3
SELECT origin, COUNT(*) FROM flights GROUP BY 3;
