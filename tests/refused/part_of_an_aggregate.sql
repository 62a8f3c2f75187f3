-- error: id is neither in GROUP BY nor inside an aggregate; write SUM(delay) OVER () for that of all rows; else add GROUP BY id, or aggregate it: MAX(id)
-- at: id
SELECT id, 100.0 * delay / SUM(delay) AS share FROM flights;
