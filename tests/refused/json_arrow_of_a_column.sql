-- error: the operator -> is not supported; write JSON_VALUE(js, '$.path')
-- at: js -> ms
CREATE TABLE flights (ts TIMESTAMP(3), day DATE, js STRING, ms BIGINT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT js -> ms AS b FROM flights;
