-- error: SUM takes a number, not VARCHAR; write SUM(CAST(origin AS DOUBLE))
-- at: SUM(origin)
SELECT SUM(origin) FROM flights;
