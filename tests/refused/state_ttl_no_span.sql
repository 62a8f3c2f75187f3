-- error: 'soon' is no span of time; write 'state.ttl' = '1d', or h, min, s, ms
-- at: 'state.ttl' = 'soon'
CREATE TABLE flights (origin VARCHAR) WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SET 'state.ttl' = 'soon';
SELECT origin FROM flights;
