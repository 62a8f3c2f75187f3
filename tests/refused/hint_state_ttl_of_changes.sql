-- error: STATE_TTL of t is not supported: its rows are taken back; leave the hint out, or write it where rows only come
-- at: 't' = '1d'
SELECT /*+ STATE_TTL('t' = '1d') */ n, COUNT(*) AS m FROM (SELECT origin, COUNT(*) AS n FROM flights GROUP BY origin) AS t GROUP BY n;
