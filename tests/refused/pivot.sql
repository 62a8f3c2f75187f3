-- error: PIVOT is not supported; write an aggregate for each value: SUM(x) FILTER (WHERE k = 'a') AS a
-- at: PIVOT
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT * FROM flights PIVOT (SUM(dep_delay) FOR origin IN ('JFK', 'LGA'));
