-- error: GROUP BY ALL is not supported; name the columns that are not aggregated
-- at: GROUP BY ALL
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT origin, COUNT(*) AS n FROM flights GROUP BY ALL;
