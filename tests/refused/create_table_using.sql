-- error: USING does not belong here; write CREATE TABLE o2 (id BIGINT) WITH ('connector' = 'file', 'path' = 'x.csv', 'format' = 'csv', 'csv.header' = 'true')
-- at: USING
CREATE TABLE o2 (id BIGINT) USING csv OPTIONS (path 'x.csv', header 'true');
SELECT id FROM o2;
