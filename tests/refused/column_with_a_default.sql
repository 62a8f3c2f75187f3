-- error: DEFAULT in a CREATE TABLE is not supported; leave it out, and write COALESCE(b, 'x') in the query
-- at: DEFAULT
CREATE TABLE t (a INT, b VARCHAR(10) DEFAULT 'x') WITH ('connector' = 'print');
