-- error: 1700000000000000 seconds lead beyond the year 9999; write 1700000000000000 / 1000000 if these are microseconds
-- at: TO_TIMESTAMP_LTZ(1700000000000000, 0)
CREATE TABLE flights (ts TIMESTAMP(3), day DATE, js STRING, ms BIGINT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT TO_TIMESTAMP_LTZ(1700000000000000, 0) AS t FROM flights;
