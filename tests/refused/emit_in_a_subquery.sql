-- error: EMIT stands inside a subquery; write it once, at the end of the statement
-- at: EMIT
SELECT n FROM (SELECT COUNT(*) AS n FROM flights EMIT CHANGES);
