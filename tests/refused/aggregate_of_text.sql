-- error: SUM takes a number, not VARCHAR; write SUM(value) of such a value
-- at: SUM(origin)
SELECT SUM(origin) FROM flights;
