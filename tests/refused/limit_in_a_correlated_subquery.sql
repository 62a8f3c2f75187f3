-- error: LIMIT is not supported here
-- at: 1
SELECT id, (SELECT MAX(w.n) FROM words AS w WHERE w.word = f.origin LIMIT 1) FROM flights AS f;
