-- error: the operator #>> is not supported; write JSON_VALUE(js, '$.a[0]')
-- at: js #>> '{a,0}'
CREATE TABLE flights (ts TIMESTAMP(3), day DATE, js STRING, ms BIGINT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT js #>> '{a,0}' AS b FROM flights;
