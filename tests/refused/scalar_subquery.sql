-- error: a subquery as a value is not supported
-- at: MAX(n) FROM words
SELECT (SELECT MAX(n) FROM words) FROM flights;
