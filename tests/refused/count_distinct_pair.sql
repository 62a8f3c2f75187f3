-- error: COUNT of several values is not supported; write COUNT(DISTINCT ROW(origin, flight)) FILTER (WHERE origin IS NOT NULL AND flight IS NOT NULL)
-- at: COUNT(DISTINCT origin, flight)
CREATE TABLE flights (flight INT, dep_delay INT, origin VARCHAR, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT COUNT(DISTINCT origin, flight) FROM flights;
