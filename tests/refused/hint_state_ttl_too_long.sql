-- error: this is longer than what can be added to any time; write at most 53375995 days
-- at: 'f' = '99999999999d'
SELECT /*+ STATE_TTL('f' = '99999999999d') */ origin, COUNT(*) AS n FROM flights AS f GROUP BY origin;
