-- error: a subquery that speaks of f further out under a LIMIT is not supported; join the tables in one subquery, and compare in its WHERE
-- at: w.n AS n FROM words AS w WHERE w.word = f.origin LIMIT 1
SELECT id FROM flights AS f WHERE f.id IN (SELECT n FROM (SELECT w.n AS n FROM words AS w WHERE w.word = f.origin LIMIT 1) AS u);
