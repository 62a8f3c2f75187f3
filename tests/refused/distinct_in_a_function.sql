-- error: DISTINCT belongs to an aggregate; remove it
-- at: origin
SELECT UPPER(DISTINCT origin) FROM flights;
