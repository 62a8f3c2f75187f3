CREATE TABLE flights (
  ts TIMESTAMP(3), carrier VARCHAR, origin VARCHAR, dest VARCHAR, dep_delay INT, arr_delay INT, distance INT,
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
) WITH ('connector' = 'file', 'path' = 'data/flights.parquet', 'format' = 'parquet');

SELECT carrier, dest, dep_delay
FROM flights
WHERE dep_delay > 60  -- more than an hour
  AND origin IN ('JFK', 'LGA') AND dest LIKE 'S%';
