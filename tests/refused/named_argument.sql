-- error: a named argument is not supported
-- at: origin
SELECT UPPER(text => origin) FROM flights;
