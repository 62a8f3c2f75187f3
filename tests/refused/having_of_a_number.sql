-- error: HAVING is a condition, and this is BIGINT; compare it
-- at: COUNT(*)
SELECT id, (SELECT MAX(n) FROM words AS w WHERE w.word = f.origin HAVING COUNT(*)) AS most FROM flights AS f;
