-- error: STRING_AGG OVER is not supported; aggregate by GROUP BY and join the result
-- at: STRING_AGG(origin)
SELECT STRING_AGG(origin) OVER (PARTITION BY carrier) FROM flights;
