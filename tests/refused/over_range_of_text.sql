-- error: a RANGE of this kind does not fit VARCHAR; write an INTERVAL for a time, a whole number for a whole number
-- at: RANGE 2 PRECEDING
SELECT SUM(delay) OVER (ORDER BY origin RANGE 2 PRECEDING) FROM flights;
