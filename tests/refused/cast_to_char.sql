-- error: CAST to CHAR(3) is not supported; write RPAD(CAST(value AS STRING), 3, ' ')
-- at: CAST(origin AS CHAR(3))
SELECT CAST(origin AS CHAR(3)) AS o FROM flights;
