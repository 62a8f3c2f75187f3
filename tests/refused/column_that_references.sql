-- error: FOREIGN in a CREATE TABLE is not supported; leave it out: no engine here checks it; filter the rows in the query
-- at: FOREIGN
CREATE TABLE t (a ARRAY<MAP<STRING, INT>>, b INT, FOREIGN KEY (b) REFERENCES u (b)) WITH ('connector' = 'print');
