-- error: OFFSET needs LIMIT; add LIMIT
-- at: id
SELECT id FROM flights ORDER BY id OFFSET 5;
