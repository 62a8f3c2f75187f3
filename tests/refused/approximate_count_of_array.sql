-- error: APPROX_COUNT_DISTINCT takes a single value, no ARRAY, MAP, ROW and no interval of months, not ARRAY<INT>; write APPROX_COUNT_DISTINCT(value [, error]) of such a value
-- at: APPROX_COUNT_DISTINCT(ARRAY[flight])
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'flights.csv', 'format' = 'csv');
SELECT APPROX_COUNT_DISTINCT(ARRAY[flight]) AS n FROM flights;
