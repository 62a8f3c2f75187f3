-- error: a text that begins with E' is not supported; write the character itself between the quotes
-- at: E'\n'
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT E'\n' AS line FROM flights;
