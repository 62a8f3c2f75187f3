-- error: there is no operator :; write a.b for a field of a ROW, JSON_VALUE(a, '$.b') for a field of JSON text, or a AS b for a name
-- at: :
SELECT origin:carrier FROM flights;
