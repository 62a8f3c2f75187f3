-- error: the option 'path' is given twice; keep one
-- at: 'path' = 'b.csv'
CREATE TABLE t (a INT) WITH ('connector' = 'file', 'path' = 'a.csv', 'path' = 'b.csv');
SELECT a FROM t;
