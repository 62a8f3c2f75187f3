CREATE TABLE flights (
  ts TIMESTAMP(3), carrier VARCHAR, origin VARCHAR, dest VARCHAR, dep_delay INT, arr_delay INT, distance INT,
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
) WITH ('connector' = 'file', 'path' = 'data/flights.parquet', 'format' = 'parquet');

SELECT
  carrier,
  ts,
  -- Three frames, whose rows are sorted once.
  AVG(distance) OVER (PARTITION BY carrier ORDER BY ts RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW) AS hour,
  LAG(distance) OVER (PARTITION BY carrier ORDER BY ts) AS before,
  SUM(distance) OVER (PARTITION BY carrier ORDER BY ts ROWS 2 PRECEDING) AS three
FROM flights;
