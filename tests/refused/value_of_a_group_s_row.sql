-- error: f of the query around, which groups, in a subquery beside its aggregates is not supported; group in a subquery of FROM, and compare in the query around it
-- at: f
SELECT origin, COUNT(*) AS n FROM flights AS f GROUP BY origin HAVING COUNT(*) > (SELECT COUNT(*) FROM words WHERE word = f.origin);
