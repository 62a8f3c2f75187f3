-- error: COUNT(DISTINCT ...) OVER is not supported; aggregate a subquery that has DISTINCT rows
-- at: COUNT(DISTINCT carrier)
SELECT COUNT(DISTINCT carrier) OVER (PARTITION BY origin) FROM flights;
