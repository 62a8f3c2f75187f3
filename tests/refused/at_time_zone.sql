-- error: AT TIME ZONE is not supported; a TIMESTAMP has no zone; add what it is ahead: t + INTERVAL '1' HOUR
-- at: AT TIME ZONE
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT ts AT TIME ZONE 'UTC' AS t FROM flights;
