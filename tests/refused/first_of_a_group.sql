-- error: there is no function FIRST; write FIRST_VALUE(origin ORDER BY time), with the column of the time
-- at: FIRST(origin)
SELECT FIRST(origin) FROM flights;
