-- error: SEPARATOR is not supported; write STRING_AGG(value, ';')
-- at: SEPARATOR
SELECT GROUP_CONCAT(origin SEPARATOR ';') FROM flights;
