-- error: ABS takes a number, not VARCHAR; write ABS(CAST(origin AS DOUBLE))
-- at: ABS(origin)
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT ABS(origin) AS a FROM flights;
