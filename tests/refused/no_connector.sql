-- error: the table t does not say where its rows are; add WITH ('connector' = '...'), one of file, kafka, print, cache, datagen, redis-table
-- at: t
CREATE TABLE t (a INT) WITH ('path' = 'a.csv');
SELECT a FROM t;
