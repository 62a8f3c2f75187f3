-- error: this leaves no column; name a column
-- at: * EXCLUDE (n)
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT * EXCLUDE (n) FROM (SELECT flight AS n FROM flights);
