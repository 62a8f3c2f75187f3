-- error: a join as of a time takes equalities beside the times, and this condition is another; put it into a subquery, or into WHERE
-- at: a.origin = b.origin AND a.ts >= b.ts AND b.late
SELECT a.id FROM flights AS a ASOF JOIN flights AS b ON a.origin = b.origin AND a.ts >= b.ts AND b.late;
