-- error: FROM_UNIXTIME is not supported in a session of 'Europe/Berlin': it means UTC; write DATE_FORMAT(TO_TIMESTAMP_LTZ(seconds, 0), 'yyyy-MM-dd HH:mm:ss')
-- at: FROM_UNIXTIME(dep_delay)
CREATE TABLE flights (dep_delay BIGINT) WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SET 'time.zone' = 'Europe/Berlin';
SELECT FROM_UNIXTIME(dep_delay) AS t FROM flights;
