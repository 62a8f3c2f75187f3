-- error: ORDER BY 2 is no column of the select list; write a number from 1 to 1, or its name
-- at: 2
SELECT id FROM flights ORDER BY 2 LIMIT 3;
