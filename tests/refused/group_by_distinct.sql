-- error: GROUP BY DISTINCT is not supported; write GROUPING SETS with each set once
-- at: origin, ROLLUP (origin)
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT COUNT(*) AS n FROM flights GROUP BY DISTINCT origin, ROLLUP (origin);
