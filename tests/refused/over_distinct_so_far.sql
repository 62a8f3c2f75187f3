-- error: COUNT(DISTINCT ...) OVER is not supported; select ROW_NUMBER() OVER (PARTITION BY origin, carrier ORDER BY ts) AS nth in a subquery, and above it COUNT(*) FILTER (WHERE nth = 1) OVER (PARTITION BY origin ORDER BY ts)
-- at: COUNT(DISTINCT carrier)
SELECT COUNT(DISTINCT carrier) OVER (PARTITION BY origin ORDER BY ts) FROM flights;
