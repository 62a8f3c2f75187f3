-- error: a subquery that speaks of f further out in a FROM with an outer join is not supported; join the tables in one subquery, and compare in its WHERE
-- at: w.n FROM words AS w WHERE w.word = f.origin) AS u
SELECT id FROM flights AS f
WHERE EXISTS (SELECT 1 FROM words AS v LEFT JOIN (SELECT w.n FROM words AS w WHERE w.word = f.origin) AS u ON u.n = v.n);
