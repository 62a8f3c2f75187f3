-- error: there is no operator :; write origin.carrier for a field of a ROW, JSON_VALUE(origin, '$.carrier') for one of JSON text, or origin AS carrier for a name
-- at: :
SELECT origin:carrier FROM flights;
