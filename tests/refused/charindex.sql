-- error: there is no function CHARINDEX; write POSITION('K' IN origin)
-- at: CHARINDEX('K', origin)
SELECT CHARINDEX('K', origin) AS place FROM flights;
