-- error: ORDER BY is not supported: a stream has no end to sort at
-- at: ORDER BY
SELECT id FROM flights ORDER BY id;
