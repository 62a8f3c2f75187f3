-- error: a is VARCHAR, and event time is a TIMESTAMP; declare a TIMESTAMP(3), which reads such texts; or compute one of another name: event_time AS CAST(a AS TIMESTAMP(3)), and WATERMARK FOR event_time AS event_time - INTERVAL '5' SECOND
-- at: a
CREATE TABLE t (a STRING, WATERMARK FOR a AS a) WITH ('connector' = 'kafka');
SELECT a FROM t;
