-- error: the operator ->> is not supported; write JSON_VALUE(origin, '$.a')
-- at: origin
SELECT origin ->> 'a' AS a FROM flights;
