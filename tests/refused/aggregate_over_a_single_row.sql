-- error: delay is of single rows, and OVER sees the groups; write SUM(SUM(delay)) OVER (...), or group by delay
-- at: delay
SELECT origin, SUM(delay) OVER () FROM flights GROUP BY origin;
