-- error: PARTITION BY does not belong here; write OVER (PARTITION BY key ORDER BY time)
-- at: PARTITION BY
SELECT id, SUM(delay) OVER PARTITION BY origin AS total FROM flights;
