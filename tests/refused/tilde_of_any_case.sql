-- error: ~* is not supported; write REGEXP_LIKE(text, '(?i)pattern')
-- at: ~*
CREATE TABLE flights (origin VARCHAR) WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT origin FROM flights WHERE origin ~* '^j';
