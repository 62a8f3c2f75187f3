-- error: there is no column b in t; there is a
-- at: b
CREATE TABLE t (a INT, PRIMARY KEY (b) NOT ENFORCED) WITH ('connector' = 'kafka');
SELECT a FROM t;
