-- error: GROUP BY ALL does not spread *; name the columns
-- at: GROUP BY ALL
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT *, COUNT(*) AS n FROM flights GROUP BY ALL;
