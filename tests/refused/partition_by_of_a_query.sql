-- error: PARTITION BY does not belong here; leave it out: the planner spreads rows over tasks; of a call write OVER (PARTITION BY key)
-- at: PARTITION BY
SELECT id FROM flights PARTITION BY origin;
