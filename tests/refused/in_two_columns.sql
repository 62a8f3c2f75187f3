-- error: IN compares with one column, and this subquery gives 2; select one
-- at: word, n FROM words
SELECT id FROM flights WHERE origin IN (SELECT word, n FROM words);
