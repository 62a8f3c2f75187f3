-- error: of DISTINCT values there is no other order than their own; order by the value itself
-- at: delay
SELECT STRING_AGG(DISTINCT origin ORDER BY delay) FROM flights;
