-- error: the connector file needs the option 'path'; add 'path' = 'data/*.parquet'
-- at: 'connector' = 'file'
CREATE TABLE t (a INT) WITH ('connector' = 'file');
SELECT a FROM t;
