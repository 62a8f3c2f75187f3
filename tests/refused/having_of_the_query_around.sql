-- error: f.delay of the query around in HAVING of a subquery is not supported; compare the value of the subquery with it: WHERE f.delay < (SELECT SUM(...) FROM ...)
-- at: f.delay
SELECT f.id FROM flights AS f WHERE EXISTS (SELECT 1 FROM words AS w WHERE w.word = f.origin HAVING SUM(w.n) > f.delay);
