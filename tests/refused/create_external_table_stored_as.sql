-- error: CREATE EXTERNAL is not supported: write CREATE TABLE o2 (id BIGINT) WITH ('connector' = 'file', 'path' = 'x', 'format' = 'parquet')
-- at: CREATE EXTERNAL
CREATE EXTERNAL TABLE o2 (id BIGINT) STORED AS PARQUET LOCATION 'x';
SELECT id FROM o2;
