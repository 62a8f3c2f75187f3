-- error: CHECK in a CREATE TABLE is not supported; leave it out: no engine here checks it; filter the rows in the query
-- at: CHECK
CREATE TABLE t (a INT, b STRING, CHECK (a > 0)) WITH ('connector' = 'print');
