-- The stormiest six hours: windows that overlap. Each hour of weather lies in six windows, and each window says what it has seen.
--
--     ouzel run sql_examples/storms.sql

CREATE TABLE weather (
  ts         TIMESTAMP(3),
  origin     VARCHAR,
  wind_speed DOUBLE,  -- miles per hour
  wind_gust  DOUBLE,
  precip     DOUBLE,  -- inches of rain
  visib      DOUBLE,  -- miles
  WATERMARK FOR ts AS ts
) WITH ('connector' = 'file', 'path' = 'data/weather.parquet', 'format' = 'parquet');

-- A view is a name for a query; it runs nothing by itself.
CREATE VIEW wind AS
SELECT ts, origin, COALESCE(wind_gust, wind_speed) AS mph, precip, visib FROM weather WHERE wind_speed IS NOT NULL;

SELECT
  window_start,
  window_end,
  origin,
  MAX(mph)                AS strongest_mph,
  ROUND(SUM(precip), 2)   AS rain_inches,
  MIN(visib)              AS sight_miles,
  CASE WHEN MIN(visib) < 1e0 THEN 'blind' WHEN SUM(precip) > 1e0 THEN 'wet' ELSE 'windy' END AS kind
FROM TABLE(HOP(TABLE wind, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '6' HOUR))  -- every hour, the last six
GROUP BY window_start, window_end, origin
HAVING MAX(mph) > 50e0
EMIT AFTER WATERMARK;
