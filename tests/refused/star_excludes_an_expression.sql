-- error: this is no name of a column; write the column's name alone
-- at: flight + 1
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT * EXCLUDE (flight + 1) FROM flights;
