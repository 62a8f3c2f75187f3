-- error: a subquery that aggregates is not supported here; write it between ANDs, or compare its value
-- at: COUNT(*) FROM words AS w WHERE w.word = f.origin
SELECT id FROM flights AS f WHERE late OR EXISTS (SELECT COUNT(*) FROM words AS w WHERE w.word = f.origin);
