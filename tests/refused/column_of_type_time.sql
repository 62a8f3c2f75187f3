-- error: the type TIME is not supported; write STRING, or a TIMESTAMP with a day
-- at: TIME
CREATE TABLE t (a TIME) WITH ('connector' = 'kafka');
SELECT a FROM t;
