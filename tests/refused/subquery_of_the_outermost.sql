-- error: f.origin in a subquery inside a subquery, of the query around both, is not supported; join the tables of both subqueries in one, and compare there
-- at: f.origin
SELECT id FROM flights AS f WHERE EXISTS (SELECT 1 FROM words AS w WHERE EXISTS (SELECT 1 FROM words AS v WHERE v.n = w.n AND v.word = f.origin));
