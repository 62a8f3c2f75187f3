-- error: LIMIT is not supported: a stream has no first rows
-- at: LIMIT
SELECT id FROM flights LIMIT 5;
