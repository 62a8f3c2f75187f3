-- error: this subquery groups, so it may give several rows, and a value is one; select an aggregate of its groups: (SELECT MAX(x) FROM (SELECT ... GROUP BY ...) AS g)
-- at: MAX(w.n) FROM words AS w WHERE w.word = f.origin GROUP BY w.n
SELECT (SELECT MAX(w.n) FROM words AS w WHERE w.word = f.origin GROUP BY w.n) FROM flights AS f;
