-- error: n is BIGINT and lines.word is VARCHAR; write CAST(n AS VARCHAR)
-- at: lines
INSERT INTO lines SELECT n, word FROM words;
