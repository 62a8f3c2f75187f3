-- error: these tables have no column in common; write ON a.key = b.key, or CROSS JOIN
-- at: n AS m, word FROM words) AS w
SELECT f.id FROM flights AS f NATURAL JOIN (SELECT n AS m, word FROM words) AS w;
