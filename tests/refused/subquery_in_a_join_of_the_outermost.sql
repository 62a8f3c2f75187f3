-- error: a subquery that speaks of f further out in a JOIN is not supported; join the tables in one subquery, and compare in its WHERE
-- at: f.origin
SELECT id FROM flights AS f
WHERE EXISTS (
  SELECT 1 FROM words AS w JOIN words AS v ON w.word = f.origin WHERE EXISTS (SELECT 1 FROM words AS u WHERE u.word = f.carrier AND u.n = v.n)
);
