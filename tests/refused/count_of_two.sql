-- error: COUNT of several values is not supported; aggregate one value
-- at: COUNT(origin, carrier)
SELECT COUNT(origin, carrier) FROM flights;
