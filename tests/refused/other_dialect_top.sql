-- error: TOP is not supported: write LIMIT behind the query
-- at: TOP
SELECT TOP 10 word FROM words;
