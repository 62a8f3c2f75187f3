-- error: there is no operator :; write origin.user.name for a field of a ROW, JSON_VALUE(origin, '$.user.name') for one of JSON text
-- at: :
SELECT origin:user.name::string AS name FROM flights;
