-- error: ORDER without BY; write ORDER BY, or "ORDER" as a name
-- at: ORDER
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT flight FROM flights ORDER flight;
