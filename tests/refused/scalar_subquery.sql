-- error: this subquery may give several rows, and a value is one; select an aggregate without GROUP BY, as MAX(column)
-- at: n FROM words
SELECT (SELECT n FROM words) FROM flights;
