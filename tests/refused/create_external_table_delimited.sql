-- error: CREATE EXTERNAL is not supported: write CREATE TABLE o2 (id BIGINT) WITH ('connector' = 'file', 'path' = 'x', 'format' = 'csv', 'csv.header' = 'true', 'csv.delimiter' = ';')
-- at: CREATE EXTERNAL
CREATE EXTERNAL TABLE o2 (id BIGINT) ROW FORMAT DELIMITED FIELDS TERMINATED BY ';' STORED AS TEXTFILE LOCATION 'x' TBLPROPERTIES ('skip.header.line.count'='1');
SELECT id FROM o2;
