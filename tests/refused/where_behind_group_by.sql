-- error: WHERE stands behind GROUP BY; write it before GROUP BY, or write HAVING to choose groups
-- at: WHERE
SELECT origin, COUNT(*) AS n FROM flights GROUP BY origin WHERE delay > 10;
