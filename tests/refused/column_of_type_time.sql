-- error: the type TIME is not supported
-- at: TIME
CREATE TABLE t (a TIME) WITH ('connector' = 'kafka');
SELECT a FROM t;
