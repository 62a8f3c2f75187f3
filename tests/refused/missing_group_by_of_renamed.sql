-- error: y is neither in GROUP BY nor inside an aggregate; add y to GROUP BY x, or aggregate it: MAX(y)
-- at: y
SELECT x, y FROM (VALUES (1, 2)) AS t (x, y) GROUP BY x;
