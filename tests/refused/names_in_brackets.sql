-- error: names do not stand in brackets; write origin
-- at: [origin]
SELECT [origin], COUNT(*) AS [number of flights] FROM flights GROUP BY [origin];
