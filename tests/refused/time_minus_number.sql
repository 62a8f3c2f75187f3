-- error: TIMESTAMP(6) - INT is not possible; say what the number counts: write ts - INTERVAL '7' DAY or SECOND
-- at: ts - 7
CREATE TABLE flights (ts TIMESTAMP(3), day DATE, js STRING, ms BIGINT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT ts - 7 AS t FROM flights;
