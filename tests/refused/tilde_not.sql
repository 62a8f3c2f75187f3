-- error: there is no operator !~; write NOT REGEXP_LIKE(text, 'pattern')
-- at: !~
CREATE TABLE flights (flight INT, dep_delay INT, origin VARCHAR, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT flight FROM flights WHERE origin !~ '^J';
