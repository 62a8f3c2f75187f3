-- error: OVER cannot stand here; compute it in a subquery
-- at: RANK()
SELECT SUM(RANK() OVER (ORDER BY delay)) OVER (ORDER BY id) FROM flights;
