-- error: ) does not belong here; expected ( or AS or WITH or a name
-- at: )
CREATE TABLE t (a INT, b) WITH ('connector' = 'kafka');
SELECT a FROM t;
