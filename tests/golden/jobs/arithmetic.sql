CREATE TABLE flights (
  ts TIMESTAMP(3), carrier VARCHAR, origin VARCHAR, dest VARCHAR, dep_delay INT, arr_delay INT, distance INT,
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
) WITH ('connector' = 'file', 'path' = 'data/flights.parquet', 'format' = 'parquet');

SELECT
  carrier,
  (arr_delay - dep_delay) * 2 + 1 AS made_up,
  CAST(distance AS DOUBLE) / 3 AS third,
  -dep_delay AS early,
  ABS(arr_delay) > 10 AND NOT (dep_delay = 0 OR dest = 'SFO') AS off
FROM flights;
