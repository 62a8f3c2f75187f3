-- error: there is no table f in the query of this hint; there is flights
-- at: 'f' = '1d'
SELECT /*+ STATE_TTL('f' = '1d') */ origin, COUNT(*) AS n FROM flights GROUP BY origin;
