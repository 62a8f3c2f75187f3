-- error: COUNT(DISTINCT ...) OVER is not supported; JOIN by origin SELECT origin, COUNT(DISTINCT carrier) ... GROUP BY origin
-- at: COUNT(DISTINCT carrier)
SELECT COUNT(DISTINCT carrier) OVER (PARTITION BY origin) FROM flights;
