CREATE TABLE flights (
  ts TIMESTAMP(3), carrier VARCHAR, origin VARCHAR, dest VARCHAR, dep_delay INT, arr_delay INT, distance INT,
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
) WITH ('connector' = 'file', 'path' = 'data/flights.parquet', 'format' = 'parquet');

WITH late AS (
  -- a flight that is cancelled is not late
  SELECT origin, dest, dep_delay FROM flights WHERE dep_delay > 15
), worst AS (
  SELECT origin, dest, MAX(dep_delay) AS delay FROM late GROUP BY origin, dest
)
SELECT origin, AVG(delay) AS delay FROM worst GROUP BY origin;
