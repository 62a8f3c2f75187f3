-- error: JSON_ARRAYAGG is not supported; select ARRAY_AGG(value), which a table with 'format' = 'json' writes as JSON
-- at: JSON_ARRAYAGG(id ABSENT ON NULL)
SELECT JSON_ARRAYAGG(id ABSENT ON NULL) AS x FROM flights;
