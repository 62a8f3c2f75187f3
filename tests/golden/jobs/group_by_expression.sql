CREATE TABLE flights (
  ts TIMESTAMP(3), carrier VARCHAR, origin VARCHAR, dest VARCHAR, dep_delay INT, arr_delay INT, distance INT,
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
) WITH ('connector' = 'file', 'path' = 'data/flights.parquet', 'format' = 'parquet');

-- How long are the flights, by hundreds of miles?
SELECT distance / 100 AS hundreds, COUNT(*) AS flights, AVG(arr_delay) AS arrival_delay
FROM flights
GROUP BY distance / 100
HAVING COUNT(*) > 10;
