-- error: there is no column nobody in w; there are word, n
-- at: nobody
SELECT f.id, m.n FROM flights AS f CROSS JOIN LATERAL (SELECT w.n FROM words AS w WHERE w.word = f.origin AND nobody = 1) AS m;
