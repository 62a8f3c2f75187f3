-- error: a subquery as a value with another correlation than equality is not supported; compare with = what is of the subquery and what is of the query around it, or JOIN on the condition and GROUP BY
-- at: w.n < f.delay
SELECT (SELECT MAX(n) FROM words AS w WHERE w.n < f.delay) FROM flights AS f;
