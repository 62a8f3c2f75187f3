-- error: RIGHT JOIN LATERAL is not supported; write CROSS JOIN LATERAL or LEFT JOIN LATERAL
-- at: w.n FROM words AS w WHERE w.word = f.origin) AS m ON TRUE
SELECT f.id, m.n FROM flights AS f RIGHT JOIN LATERAL (SELECT w.n FROM words AS w WHERE w.word = f.origin) AS m ON TRUE;
