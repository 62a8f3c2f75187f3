-- error: UNIQUE in a CREATE TABLE is not supported; leave it out, or write PRIMARY KEY NOT ENFORCED if rows replace each other by it
-- at: UNIQUE
CREATE TABLE t (a INT UNIQUE, b STRING) WITH ('connector' = 'print');
