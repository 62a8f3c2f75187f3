-- error: ORDER BY 2 is no column of the select list; write its name
-- at: 2
SELECT id FROM flights ORDER BY 2 LIMIT 3;
