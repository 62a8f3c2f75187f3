-- error: TIMESTAMP(6) + INT is not possible; say what the number counts: write ts + INTERVAL '1' DAY or SECOND
-- at: ts + 1
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT ts + 1 AS t FROM flights;
