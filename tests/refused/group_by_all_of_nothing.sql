-- error: GROUP BY ALL has nothing to group by; select a column, or write LIMIT 1
-- at: SELECT 1 FROM flights
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT 1 FROM flights GROUP BY ALL;
