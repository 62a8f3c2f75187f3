-- error: CREATE OR REPLACE TABLE is not supported: no table is left from before; write CREATE TABLE
-- at: CREATE OR REPLACE TABLE
CREATE OR REPLACE TABLE t (a BIGINT) WITH ('connector' = 'file', 'path' = 't.csv', 'format' = 'csv');
