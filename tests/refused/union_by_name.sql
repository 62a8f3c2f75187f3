-- error: UNION ALL BY NAME is not supported; name the columns of both sides in one order
-- at: UNION ALL BY NAME
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT flight FROM flights UNION ALL BY NAME SELECT flight FROM flights;
