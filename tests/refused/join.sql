-- error: JOIN is not supported yet; CROSS JOIN UNNEST(array) is
-- at: JOIN
SELECT f.id FROM flights AS f JOIN words AS w ON f.origin = w.word;
