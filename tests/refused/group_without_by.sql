-- error: GROUP without BY; write GROUP BY, or "GROUP" as a name
-- at: GROUP
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT origin FROM flights GROUP;
