-- error: UNIX_TIMESTAMP is not supported in a session of 'Europe/Berlin': it means UTC; write UNIX_SECONDS(CAST(TO_TIMESTAMP(text, pattern) AS TIMESTAMP_LTZ))
-- at: UNIX_TIMESTAMP(day, 'yyyy-MM-dd')
CREATE TABLE flights (day VARCHAR) WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SET 'time.zone' = 'Europe/Berlin';
SELECT UNIX_TIMESTAMP(day, 'yyyy-MM-dd') AS t FROM flights;
