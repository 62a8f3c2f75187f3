-- error: SELECT AS is not supported; select the values as one: SELECT ROW(a, b) AS s
-- at: SELECT AS
SELECT AS STRUCT origin, carrier FROM flights;
