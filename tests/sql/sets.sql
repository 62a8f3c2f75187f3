INSERT INTO lines SELECT word, n FROM words INTERSECT SELECT origin, id FROM flights MINUS ALL SELECT word, 1 FROM words;
INSERT INTO lines VALUES ('a', 1), ('b', 2);
INSERT INTO lines SELECT 'all', COUNT(*) FROM (VALUES (1)) AS t (k) WHERE k > 0;
SELECT 1 AS one, w.* FROM words AS w JOIN (VALUES ('a'), ('b')) AS t (word) USING (word) EXCEPT SELECT 2, 'x', 3;
