-- error: RETURNING does not say which type; write RETURNING INT
-- at: RETURNING
SELECT JSON_VALUE(origin, '$.a' RETURNING) AS x FROM flights;
