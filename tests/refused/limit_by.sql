-- error: LIMIT n BY is not supported; write QUALIFY ROW_NUMBER() OVER (PARTITION BY ... ORDER BY ...) <= n
-- at: origin
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT flight FROM flights ORDER BY ts LIMIT 1 BY origin;
