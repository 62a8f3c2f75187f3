-- error: n is BIGINT and lines.word is VARCHAR; write CAST(n AS VARCHAR)
-- at: n
INSERT INTO lines SELECT n, n FROM words;
