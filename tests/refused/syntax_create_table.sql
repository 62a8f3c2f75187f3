-- error: the column b has no type; write b STRING
-- at: b
CREATE TABLE t (a INT, b) WITH ('connector' = 'kafka');
SELECT a FROM t;
