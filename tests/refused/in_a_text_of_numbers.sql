-- error: IN does not take (INT, VARCHAR, VARCHAR); write flight IN (1, 2, 3)
-- at: flight IN ('1,2', '3')
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT flight FROM flights WHERE flight IN ('1,2', '3');
