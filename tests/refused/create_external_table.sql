-- error: CREATE EXTERNAL is not supported: write CREATE TABLE t (...) WITH ('connector' = 'file', ...)
-- at: CREATE EXTERNAL
CREATE EXTERNAL TABLE t (a INT) LOCATION '/data/t';
