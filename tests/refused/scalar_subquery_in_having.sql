-- error: a subquery in this place (write it in WHERE, or in the select list of a query that does not group) is not supported
-- at: AVG(n) FROM words
SELECT origin, COUNT(*) FROM flights GROUP BY origin HAVING COUNT(*) > (SELECT AVG(n) FROM words);
