-- error: SUBSTRING does not take (VARCHAR, BIGINT); write SUBSTRING(word, CAST(n AS INT))
-- at: SUBSTRING(word, n)
SELECT SUBSTRING(word, n) FROM words;
