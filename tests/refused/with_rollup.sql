-- error: WITH ROLLUP is not supported; write GROUP BY ROLLUP (a, b)
-- at: WITH ROLLUP
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT origin, COUNT(*) AS n FROM flights GROUP BY origin WITH ROLLUP;
