-- error: TIMESTAMP(6) = INT is not possible; write a time: TIMESTAMP '2013-01-01 00:00:00'
-- at: ts = 5
CREATE TABLE flights (flight INT, dep_delay INT, origin VARCHAR, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT flight FROM flights WHERE ts = 5;
