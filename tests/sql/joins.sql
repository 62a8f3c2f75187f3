INSERT INTO lines SELECT a.word, b.n FROM words a RIGHT JOIN words b ON a.n = b.n + 1;
INSERT INTO lines SELECT word, COUNT(*) FROM words FULL JOIN (SELECT origin AS word, id FROM flights) AS f USING (word) GROUP BY word;
INSERT INTO lines SELECT a.word, 1 FROM words a, words b, flights f WHERE a.n = b.n AND f.id = b.n AND f.late AND a.word < f.origin;
INSERT INTO lines SELECT a.k, y.n FROM (SELECT origin AS "k", carrier AS "K", id FROM flights) AS a JOIN (SELECT word AS k, n FROM words) AS y USING (k);
INSERT INTO lines SELECT w.word, f.id FROM flights f JOIN words w ON f.origin = w.word AND f.carrier = w.word AND w.word = f.origin;
INSERT INTO lines SELECT w.word, f.id FROM flights f, words w WHERE f.origin = w.word AND f.carrier = w.word;
SELECT f.id, w.n FROM flights f JOIN words w ON f.origin = w.word AND UPPER(f.carrier) = w.word AND w.n > f.delay;
