-- error: TOP is not supported: write LIMIT 10 behind the query
-- at: TOP
SELECT TOP 10 word FROM words;
