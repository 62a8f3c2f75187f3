-- error: DISTRIBUTE BY is not supported; leave it out: the planner chooses how rows are spread over tasks
-- at: DISTRIBUTE BY
SELECT origin, delay FROM flights DISTRIBUTE BY origin SORT BY delay;
