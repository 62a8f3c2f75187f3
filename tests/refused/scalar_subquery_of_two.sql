-- error: a value is one column, and this subquery gives 2; select one
-- at: MAX(n), MIN(n) FROM words
SELECT (SELECT MAX(n), MIN(n) FROM words) FROM flights;
