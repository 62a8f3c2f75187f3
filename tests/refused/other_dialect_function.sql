-- error: there is no function DATEPART; write EXTRACT(HOUR FROM ts)
-- at: DATEPART(hour, ts)
SELECT DATEPART(hour, ts) FROM flights;
