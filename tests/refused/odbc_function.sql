-- error: UPPER does not belong here; see docs/sql.md for what a query may hold
-- at: UPPER
SELECT {fn UPPER(origin)} AS x FROM flights;
