-- error: DATEDIFF takes two dates and no unit; write TIMESTAMPDIFF(DAY, ts, other) for full days, or DATEDIFF(CAST(other AS DATE), CAST(ts AS DATE)) for the midnights between them
-- at: DATEDIFF(day, ts, other)
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT DATEDIFF(day, ts, other) AS d FROM flights;
