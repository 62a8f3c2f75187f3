-- error: '2013-01-31' is VARCHAR and t.d is DATE; write DATE '2013-01-31'
-- at: '2013-01-31'
CREATE TABLE t (a BIGINT, d DATE) WITH ('connector' = 'file', 'path' = 't.csv', 'format' = 'csv');
INSERT INTO t VALUES (1, '2013-01-31');
