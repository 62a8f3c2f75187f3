-- error: SUM takes a number, not BOOLEAN; write COUNT_IF(dep_delay > 1)
-- at: SUM(dep_delay > 1)
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT SUM(dep_delay > 1) AS n FROM flights;
