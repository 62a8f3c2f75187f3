-- error: JOIN is not supported yet; CROSS JOIN UNNEST(array) is
-- at: words AS w
SELECT f.id FROM flights AS f, words AS w;
