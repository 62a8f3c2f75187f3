-- error: a is VARCHAR, and event time is a TIMESTAMP; compute one: ts AS CAST(... AS TIMESTAMP(3))
-- at: a
CREATE TABLE t (a STRING, WATERMARK FOR a AS a) WITH ('connector' = 'kafka');
SELECT a FROM t;
