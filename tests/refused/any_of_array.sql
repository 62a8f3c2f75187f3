-- error: ANY (array) is not supported; write ARRAY_CONTAINS(ARRAY[1, 2], flight)
-- at: (ARRAY[1, 2])
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT flight FROM flights WHERE flight = ANY (ARRAY[1, 2]);
