-- error: COUNT(*) is BIGINT and lines.word is VARCHAR, word is VARCHAR and lines.n is BIGINT; columns go by position: write INSERT INTO lines (n, word), or CAST(COUNT(*) AS VARCHAR) and CAST(word AS BIGINT)
-- at: COUNT(*)
INSERT INTO lines SELECT COUNT(*), word FROM words GROUP BY word;
