-- error: nothing before this writes lines; write counts or result for the SELECT
-- at: lines
INSERT INTO counts SELECT word, COUNT(*) FROM words GROUP BY word;
SELECT word FROM words;
RECONCILE lines;
