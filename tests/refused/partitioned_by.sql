-- error: PARTITIONED BY does not belong here; leave it out: a sink's folder is not cut by columns
-- at: PARTITIONED BY
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
CREATE TABLE w (a INT) PARTITIONED BY (a) WITH ('connector' = 'print');
