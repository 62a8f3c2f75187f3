-- error: ARRAY<VARCHAR> cannot be cast to INT
-- at: CAST(tags AS INT)
SELECT CAST(tags AS INT) FROM flights;
