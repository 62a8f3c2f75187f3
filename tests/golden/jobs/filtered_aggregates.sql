CREATE TABLE flights (
  ts TIMESTAMP(3), carrier VARCHAR, origin VARCHAR, dest VARCHAR, dep_delay INT, arr_delay INT, distance INT,
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
) WITH ('connector' = 'file', 'path' = 'data/flights.parquet', 'format' = 'parquet');

SELECT
  origin,
  COUNT(*) FILTER (WHERE dep_delay > 15) * 1e2 / COUNT(*) AS late_percent,
  SUM(distance) FILTER (WHERE dep_delay IS NULL) AS miles_lost,
  COUNT(DISTINCT dest) AS destinations,
  COUNT(DISTINCT carrier) FILTER (WHERE distance > 1000) AS far_carriers
FROM flights
GROUP BY origin;
