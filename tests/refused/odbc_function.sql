-- error: UPPER does not belong here; write it without the braces and without fn
-- at: UPPER
SELECT {fn UPPER(origin)} AS x FROM flights;
