CREATE TABLE flights (
  ts TIMESTAMP(3), carrier VARCHAR, origin VARCHAR, dest VARCHAR, dep_delay INT, arr_delay INT, distance INT,
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
) WITH ('connector' = 'file', 'path' = 'data/flights.parquet', 'format' = 'parquet');

CREATE VIEW hourly AS
SELECT window_time AS ts, carrier, COUNT(*) AS flights
FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(ts), INTERVAL '1' HOUR))
GROUP BY window_start, window_end, window_time, carrier;

SELECT window_start AS day_start, carrier, MAX(flights) AS busiest_hour
FROM TABLE(TUMBLE(TABLE hourly, DESCRIPTOR(ts), INTERVAL '1' DAY))
GROUP BY window_start, window_end, carrier;
