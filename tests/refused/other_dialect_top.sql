-- error: TOP is not supported: a stream has no first rows
-- at: TOP
SELECT TOP 10 word FROM words;
