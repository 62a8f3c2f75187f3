-- error: 'soon' is no span of time; write 'flights' = '1d', or h, min, s, ms
-- at: 'flights' = 'soon'
SELECT /*+ STATE_TTL('flights' = 'soon') */ origin, COUNT(*) AS n FROM flights GROUP BY origin;
