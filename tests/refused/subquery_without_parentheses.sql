-- error: a subquery in FROM stands in parentheses; write FROM (SELECT ...)
-- at: word FROM words
SELECT word FROM SELECT word FROM words;
