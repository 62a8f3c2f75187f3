-- error: there is no function CONVERT; write CAST(ts AS VARCHAR(10)), or DATE_FORMAT(ts, 'yyyy-MM-dd') for a time in a style
-- at: CONVERT(VARCHAR(10), ts, 120)
SELECT CONVERT(VARCHAR(10), ts, 120) AS day FROM flights;
