-- error: a lambda is not supported
-- at: x -> x
SELECT UPPER(x -> x) FROM flights;
