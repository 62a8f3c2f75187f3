-- error: there is no function AGE; write TIMESTAMPDIFF(DAY, ts, ts)
-- at: AGE(ts, ts)
CREATE TABLE flights (flight INT, dep_delay INT, origin VARCHAR, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT AGE(ts, ts) FROM flights;
