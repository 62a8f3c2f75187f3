-- error: JSON_QUERY, NULL for all but objects and arrays, is not supported: Spark cannot tell them from a text that looks like one; write GET_JSON_OBJECT(text, '$.path')
-- at: JSON_QUERY(origin, '$.a')
SELECT JSON_QUERY(origin, '$.a') AS x FROM flights;
