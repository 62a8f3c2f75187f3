-- error: a SELECT that prints its result is the last statement; move it to the end, or INSERT INTO a table
-- at: SELECT
SELECT word FROM words;
INSERT INTO lines SELECT word, n FROM words;
