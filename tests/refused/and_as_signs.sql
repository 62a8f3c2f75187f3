-- error: there is no operator &&; write AND
-- at: &&
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT flight FROM flights WHERE flight > 1 && flight < 9;
