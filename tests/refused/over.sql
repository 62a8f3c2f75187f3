-- error: OVER windows are not supported yet
-- at: OVER
SELECT SUM(delay) OVER (PARTITION BY origin) FROM flights;
