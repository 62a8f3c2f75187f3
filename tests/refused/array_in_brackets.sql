-- error: an array in brackets alone is not supported; write ARRAY[1, 2]
-- at: 1, 2
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT [1, 2] AS a FROM flights;
