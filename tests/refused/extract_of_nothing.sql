-- error: EXTRACT is not complete; write EXTRACT(HOUR FROM time)
-- at: EXTRACT()
SELECT EXTRACT() FROM flights;
