-- error: the table t does not say where its rows are; for a name of a query write CREATE VIEW; for rows that are kept add WITH ('connector' = '...'), one of file, kafka, print, cache, datagen, redis-table
-- at: t
CREATE TABLE t AS SELECT 1 AS a;
SELECT a FROM t;
