-- error: the error of APPROX_PERCENTILE is from 0.0001 to 0.25; write 0.0001 for an accuracy of 10000
-- at: 10000
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'flights.csv', 'format' = 'csv');
SELECT APPROX_PERCENTILE(dep_delay, 0.5, 10000) AS n FROM flights;
