-- error: the error of APPROX_COUNT_DISTINCT is from 0.01 to 0.05
-- at: 0.001
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'flights.csv', 'format' = 'csv');
SELECT APPROX_COUNT_DISTINCT(origin, 0.001) AS n FROM flights;
