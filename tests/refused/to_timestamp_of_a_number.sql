-- error: TO_TIMESTAMP takes VARCHAR, not BIGINT; say what the number counts: write TO_TIMESTAMP_LTZ(ms, 3) of milliseconds, with 0 of seconds
-- at: TO_TIMESTAMP(ms)
CREATE TABLE flights (ts TIMESTAMP(3), day DATE, js STRING, ms BIGINT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT TO_TIMESTAMP(ms) AS t FROM flights;
