-- error: COUNT(*) is BIGINT and lines.word is VARCHAR; columns go by position: write INSERT INTO lines (n, word), or CAST(COUNT(*) AS VARCHAR)
-- at: COUNT(*)
INSERT INTO lines SELECT COUNT(*), word FROM words GROUP BY word;
