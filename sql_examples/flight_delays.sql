-- How late do flights leave New York? One row per airport and day of 2013, each as soon as its day is over.
--
--     ouzel run sql_examples/flight_delays.sql
--     ouzel explain sql_examples/flight_delays.sql

-- A table is a stream of rows. This one is read from a file beside this query; it has more columns than we name here, and only
-- those that the query needs are read.
CREATE TABLE flights (
  ts        TIMESTAMP(3),  -- when the flight was to leave, local time
  origin    VARCHAR,       -- EWR, JFK or LGA
  dep_delay INT,           -- minutes late; negative is early; NULL: it never left

  -- ts is event time: the time that the data speaks of, not the time at which we read it. Rows may come up to an hour out of order.
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
) WITH (
  'connector' = 'file',
  'path'      = 'data/flights.parquet',
  'format'    = 'parquet'
);

SELECT
  CAST(window_start AS DATE)                                          AS departure_day,
  origin,
  COUNT(*)                                                            AS flights,
  COUNT(*) - COUNT(dep_delay)                                         AS cancelled,    -- COUNT(x) leaves NULLs out
  ROUND(AVG(dep_delay), 1)                                            AS avg_delay,
  MAX(dep_delay)                                                      AS max_delay,
  ROUND(1e2 * COUNT(*) FILTER (WHERE dep_delay > 15) / COUNT(*), 1)   AS late_percent  -- 1e2 is a DOUBLE, so this division keeps its fraction
FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(ts), INTERVAL '1' DAY))  -- cuts time into days
GROUP BY window_start, window_end, origin
EMIT AFTER WATERMARK;  -- a window's row leaves once, when the watermark says that nothing of that day is still to come
