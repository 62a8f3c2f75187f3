-- error: this JOIN has no condition; write ON a.key = b.key, or CROSS JOIN
-- at: id FROM flights) AS f
SELECT f.id FROM words AS w JOIN (SELECT id FROM flights) AS f;
