-- error: FROM at the beginning is not supported: write SELECT flight FROM flights
-- at: FROM
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
FROM flights SELECT flight;
