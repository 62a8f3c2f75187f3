-- error: there is no operator :; write f.origin.carrier for a field of a ROW, JSON_VALUE(f.origin, '$.carrier') for one of JSON text, or f.origin AS carrier for a name
-- at: :
SELECT f.origin:carrier FROM flights AS f;
