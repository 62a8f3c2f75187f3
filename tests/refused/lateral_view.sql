-- error: LATERAL VIEW is not supported; write CROSS JOIN UNNEST(array) AS t (element)
-- at: LATERAL VIEW
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT word FROM flights LATERAL VIEW explode(SPLIT(origin, ' ')) w AS word;
