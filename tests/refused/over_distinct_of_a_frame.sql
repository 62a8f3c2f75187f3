-- error: COUNT(DISTINCT ...) OVER is not supported; select COUNT(DISTINCT carrier) FROM HOP(TABLE t, DESCRIPTOR(ts), slide, size) GROUP BY window_start, window_end
-- at: COUNT(DISTINCT carrier)
SELECT COUNT(DISTINCT carrier) OVER (ORDER BY ts ROWS BETWEEN 100 PRECEDING AND CURRENT ROW) AS n FROM flights;
