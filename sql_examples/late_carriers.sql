-- Write an answer to files instead of the terminal: each carrier's week, as Parquet that any tool can read.
--
--     ouzel run sql_examples/late_carriers.sql
--     python -c "import polars; print(polars.read_parquet('sql_examples/data/late_carriers/*.parquet'))"

SET 'parallelism' = '2';

CREATE TABLE flights (
  ts        TIMESTAMP(3),
  carrier   VARCHAR,
  arr_delay INT,
  distance  INT,
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
) WITH ('connector' = 'file', 'path' = 'data/flights.parquet', 'format' = 'parquet');

CREATE TABLE late_carriers (
  week_start TIMESTAMP(3),
  carrier    VARCHAR,
  arrivals   BIGINT,
  late_over_an_hour BIGINT,
  miles      BIGINT
) WITH ('connector' = 'file', 'path' = 'data/late_carriers', 'format' = 'parquet');

INSERT INTO late_carriers
SELECT window_start, carrier, COUNT(arr_delay), COUNT(*) FILTER (WHERE arr_delay > 60), SUM(distance)
FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(ts), INTERVAL '7' DAY))
GROUP BY window_start, window_end, carrier
EMIT AFTER WATERMARK;
