-- error: origin is VARCHAR and has no field city; write JSON_VALUE(origin, '$.city') if it is JSON
-- at: city
SELECT origin.city FROM flights;
