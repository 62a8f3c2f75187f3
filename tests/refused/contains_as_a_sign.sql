-- error: there is no operator @>; write ARRAY_CONTAINS(a, value) of an array a, JSON_EXISTS(a, '$.key') of JSON text
-- at: @>
SELECT id FROM flights WHERE origin @> '{}';
