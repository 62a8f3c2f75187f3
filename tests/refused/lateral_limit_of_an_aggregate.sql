-- error: LIMIT of an aggregate in LATERAL is not supported; leave it out: there is one row
-- at: MAX(w.n) AS n FROM words AS w WHERE w.word = f.origin
SELECT f.id, m.n FROM flights AS f CROSS JOIN LATERAL (SELECT MAX(w.n) AS n FROM words AS w WHERE w.word = f.origin LIMIT 1) AS m;
