-- error: the watermark is INT and its column TIMESTAMP(6); write ts - INTERVAL '5' SECOND
-- at: 5
CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS 5) WITH ('connector' = 'kafka');
SELECT ts FROM t;
