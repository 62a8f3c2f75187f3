-- error: this JOIN has no condition; write ON a.key = b.key, or CROSS JOIN
-- at: words AS w
SELECT f.id FROM flights AS f JOIN words AS w;
