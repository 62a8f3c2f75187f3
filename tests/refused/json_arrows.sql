-- error: the operator ->> is not supported; write JSON_VALUE(f.js, '$.a[0].b')
-- at: f.js
CREATE TABLE flights (ts TIMESTAMP(3), day DATE, js STRING, ms BIGINT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT f.js -> 'a' -> 0 ->> 'b' AS b FROM flights f;
