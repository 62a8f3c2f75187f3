-- error: there is no column late in flights; late is an alias of the select list, which the list itself does not see: write dep_delay > 15
-- at: late
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT dep_delay > 15 AS late, NOT late AS fine FROM flights;
