-- error: flight stands twice in REPLACE; write it once
-- at: 2 AS flight
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT * REPLACE (1 AS flight, 2 AS flight) FROM flights;
