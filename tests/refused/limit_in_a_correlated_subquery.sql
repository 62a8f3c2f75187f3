-- error: a subquery that compares with the query around it and is limited to its first rows is not supported here; an aggregate gives one row: leave out ORDER BY and LIMIT
-- at: 1
SELECT id, (SELECT MAX(w.n) FROM words AS w WHERE w.word = f.origin LIMIT 1) FROM flights AS f;
