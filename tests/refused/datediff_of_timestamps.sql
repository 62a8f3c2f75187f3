-- error: DATEDIFF does not take (TIMESTAMP(6), TIMESTAMP(6)); write TIMESTAMPDIFF(DAY, other, ts), or DATEDIFF(CAST(ts AS DATE), CAST(other AS DATE))
-- at: DATEDIFF(ts, other)
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT DATEDIFF(ts, other) AS d FROM flights;
