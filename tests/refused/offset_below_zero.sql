-- error: OFFSET does not belong here; OFFSET takes a whole number: write OFFSET 10
-- at: OFFSET
SELECT id FROM flights ORDER BY id LIMIT 2 OFFSET -1;
