-- error: 1700000000000 seconds lead beyond the year 9999; write 1700000000000 / 1000 if these are milliseconds
-- at: FROM_UNIXTIME(1700000000000)
CREATE TABLE flights (ts TIMESTAMP(3), day DATE, js STRING, ms BIGINT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT FROM_UNIXTIME(1700000000000) AS t FROM flights;
