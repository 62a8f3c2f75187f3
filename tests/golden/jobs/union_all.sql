CREATE TABLE flights (
  ts TIMESTAMP(3), carrier VARCHAR, origin VARCHAR, dest VARCHAR, dep_delay INT, arr_delay INT, distance INT,
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
) WITH ('connector' = 'file', 'path' = 'data/flights.parquet', 'format' = 'parquet');

SELECT 'from' AS way, origin AS airport, COUNT(*) AS flights FROM flights GROUP BY origin
UNION ALL
SELECT 'to', dest, COUNT(*) FROM flights GROUP BY dest;
