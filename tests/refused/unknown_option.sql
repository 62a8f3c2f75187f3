-- error: the connector file has no option 'formt'; it has path, format, bad.record
-- at: 'formt' = 'csv'
CREATE TABLE t (a INT) WITH ('connector' = 'file', 'path' = 'a.csv', 'formt' = 'csv');
SELECT a FROM t;
