-- error: CAST is not complete; write CAST(value AS INT)
-- at: CAST(FROM tags AS INT)
SELECT CAST(FROM tags AS INT) FROM flights;
