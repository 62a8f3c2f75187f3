-- error: there is no function TO_CHAR; write CAST(CAST(delay AS DECIMAL(18, 2)) AS VARCHAR)
-- at: TO_CHAR(delay, '999.99')
SELECT TO_CHAR(delay, '999.99') FROM flights;
