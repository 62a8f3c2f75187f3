CREATE TABLE flights (
  ts TIMESTAMP(3), carrier VARCHAR, origin VARCHAR, dest VARCHAR, dep_delay INT, arr_delay INT, distance INT,
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
) WITH ('connector' = 'file', 'path' = 'data/flights.parquet', 'format' = 'parquet');

SELECT
  carrier,
  CASE
    WHEN dep_delay IS NULL THEN 'cancelled'
    WHEN dep_delay <= 0 THEN 'on time'
    WHEN dep_delay < 15 THEN 'nearly on time'
    WHEN dep_delay < 60 THEN 'late'
    ELSE 'very late'
  END AS punctuality
FROM flights;
