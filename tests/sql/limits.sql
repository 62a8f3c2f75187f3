INSERT INTO lines SELECT origin, COUNT(*) FROM flights GROUP BY origin ORDER BY MAX(delay) DESC NULLS FIRST, 1 LIMIT 3 OFFSET 2;
INSERT INTO lines SELECT DISTINCT ON (origin) origin, id FROM flights ORDER BY origin, delay DESC, ts;
INSERT INTO lines (SELECT word, n FROM words FETCH FIRST ROW ONLY) UNION ALL SELECT carrier, id FROM flights ORDER BY n LIMIT 4;
SELECT id, origin FROM flights WHERE id IN (SELECT n FROM words ORDER BY word DESC LIMIT 2) ORDER BY origin DESC, id;
