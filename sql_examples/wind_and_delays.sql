-- Do flights leave later when the wind blows? Each flight is joined with the weather as it was last observed at its airport.
--
--     ouzel run sql_examples/wind_and_delays.sql

CREATE TABLE flights (
  ts        TIMESTAMP(3),
  origin    VARCHAR,
  dep_delay INT,
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
) WITH ('connector' = 'file', 'path' = 'data/flights.parquet', 'format' = 'parquet');

-- Observations are versions of the weather: one holds until the next of its airport.
CREATE TABLE weather (
  ts         TIMESTAMP(3),
  origin     VARCHAR,
  wind_speed DOUBLE,  -- miles per hour
  WATERMARK FOR ts AS ts
) WITH ('connector' = 'file', 'path' = 'data/weather.parquet', 'format' = 'parquet');

SELECT
  f.origin,
  CAST(FLOOR(w.wind_speed / 5e0) AS INT) * 5  AS mph_or_more,
  COUNT(*)                                    AS flights,
  ROUND(AVG(f.dep_delay), 1)                  AS avg_delay
FROM flights AS f
LEFT JOIN weather FOR SYSTEM_TIME AS OF f.ts AS w ON f.origin = w.origin  -- LEFT: flights before the first observation are kept
GROUP BY f.origin, mph_or_more
ORDER BY origin, mph_or_more;
