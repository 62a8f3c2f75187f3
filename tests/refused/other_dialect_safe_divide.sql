-- error: there is no function SAFE_DIVIDE; write CAST(dep_delay AS DOUBLE) / NULLIF(flight, 0)
-- at: SAFE_DIVIDE(dep_delay, flight)
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT SAFE_DIVIDE(dep_delay, flight) AS t FROM flights;
