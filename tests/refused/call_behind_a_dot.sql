-- error: a call cannot follow a dot; write the function's name alone
-- at: UPPER(origin)
SELECT text.UPPER(origin) AS x FROM flights;
