-- error: OVER cannot stand here; compute it in a subquery
-- at: RANK()
SELECT COUNT(*) AS n FROM flights GROUP BY RANK() OVER (ORDER BY delay);
