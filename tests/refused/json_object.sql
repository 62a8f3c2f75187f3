-- error: JSON_OBJECT is not supported; select ROW(a, b) or MAP['key', value], which a table with 'format' = 'json' writes as JSON
-- at: JSON_OBJECT('a' VALUE id)
SELECT JSON_OBJECT('a' VALUE id) AS x FROM flights;
