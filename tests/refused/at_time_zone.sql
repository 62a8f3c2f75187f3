-- error: there is no time zone 'Berlin'; write a region as IANA spells it: 'Europe/Berlin'
-- at: 'Berlin'
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT ts AT TIME ZONE 'Berlin' AS t FROM flights;
