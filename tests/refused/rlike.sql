-- error: RLIKE is not supported; write REGEXP_LIKE(text, 'pattern')
-- at: RLIKE
CREATE TABLE flights (flight INT, dep_delay INT, origin VARCHAR, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT flight FROM flights WHERE origin RLIKE '^J';
