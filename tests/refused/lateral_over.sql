-- error: OVER with groups or LIMIT in LATERAL is not supported; write ORDER BY ... LIMIT alone
-- at: ROW_NUMBER() OVER (ORDER BY n) AS r FROM words AS w WHERE w.word = f.origin
SELECT f.id, m.r FROM flights AS f CROSS JOIN LATERAL (SELECT ROW_NUMBER() OVER (ORDER BY n) AS r FROM words AS w WHERE w.word = f.origin ORDER BY r LIMIT 1) AS m;
