-- error: a frame is bounded by a number or an interval; write RANGE INTERVAL '10' MINUTE PRECEDING
-- at: RANGE BETWEEN '10 minutes' PRECEDING AND CURRENT ROW
SELECT SUM(delay) OVER (PARTITION BY origin ORDER BY ts RANGE BETWEEN '10 minutes' PRECEDING AND CURRENT ROW) FROM flights;
