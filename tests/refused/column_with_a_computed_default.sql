-- error: DEFAULT in a CREATE TABLE is not supported; leave it out, and write COALESCE(a, (1 + 2)) in the query
-- at: DEFAULT
CREATE TABLE t (a INT DEFAULT (1 + 2) NOT NULL, b VARCHAR) WITH ('connector' = 'print');
