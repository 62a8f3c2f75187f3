-- error: LIMIT ... % is not supported; write how many rows: LIMIT 10
-- at: 10
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT flight FROM flights LIMIT 10%;
