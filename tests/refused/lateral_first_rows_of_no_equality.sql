-- error: LATERAL with groups or LIMIT with another correlation than equality is not supported; compare with = what is of the subquery and what is of the query around it, or JOIN on the condition and GROUP BY
-- at: w.n > f.delay
SELECT f.id, m.n FROM flights AS f CROSS JOIN LATERAL (SELECT w.n FROM words AS w WHERE w.n > f.delay ORDER BY w.n LIMIT 1) AS m;
