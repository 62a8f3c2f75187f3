-- error: * in LATERAL with groups or LIMIT and another correlation than equality is not supported; name the columns
-- at: *
SELECT f.id, m.n FROM flights AS f CROSS JOIN LATERAL (SELECT * FROM words AS w WHERE w.n > f.delay ORDER BY w.n LIMIT 1) AS m;
