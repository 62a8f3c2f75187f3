-- error: TOP is not supported: write LIMIT 5 behind the query
-- at: TOP
SELECT TOP (5) WITH TIES origin, delay FROM flights ORDER BY delay DESC;
