-- error: IN or EXISTS of a subquery that aggregates, and compares with the query around it, is not supported; compare its value: a = (SELECT MAX(b) FROM ...)
-- at: MAX(id) FROM flights AS g WHERE g.origin = f.origin HAVING COUNT(*) > 1
SELECT f.id FROM flights AS f WHERE f.id NOT IN (SELECT MAX(id) FROM flights AS g WHERE g.origin = f.origin HAVING COUNT(*) > 1);
