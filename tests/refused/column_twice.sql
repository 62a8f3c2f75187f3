-- error: the column a is declared twice; rename one of them
-- at: a
CREATE TABLE t (a INT, a STRING) WITH ('connector' = 'kafka');
SELECT a FROM t;
