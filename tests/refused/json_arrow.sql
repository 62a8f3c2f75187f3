-- error: the operator ->> is not supported; write JSON_VALUE(text, '$.path')
-- at: origin
SELECT origin ->> 'a' AS a FROM flights;
