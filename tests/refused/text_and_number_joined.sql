-- error: VARCHAR || INT is not possible; write origin || CAST(5 AS VARCHAR)
-- at: origin || 5
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT origin || 5 AS t FROM flights;
