-- error: USING does not belong here; write CREATE TABLE o2 (id BIGINT) WITH ('connector' = 'file', 'path' = 'x.csv', 'format' = 'csv', 'csv.header' = 'false', 'csv.delimiter' = ';', 'csv.null' = 'n/a', 'csv.columns' = 'id'), and leave out multiLine
-- at: USING
CREATE TABLE o2 (id BIGINT) USING csv OPTIONS (path 'x.csv', header 'false', sep ';', nullValue 'n/a', multiLine 'true');
SELECT id FROM o2;
