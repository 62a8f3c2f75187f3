-- error: SHOW is not supported: a file of SQL creates the tables it reads; EXPLAIN shows their columns
-- at: SHOW
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SHOW TABLES;
