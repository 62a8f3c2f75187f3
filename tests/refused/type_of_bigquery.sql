-- error: the type FLOAT64 is not supported; write DOUBLE
-- at: FLOAT64
SELECT CAST(dep_delay AS FLOAT64) FROM flights;
