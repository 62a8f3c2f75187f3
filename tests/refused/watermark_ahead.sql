-- error: the watermark is ahead of ts, so that each row would be late; write ts - INTERVAL '5' SECOND
-- at: ts + INTERVAL '5' SECOND
CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts + INTERVAL '5' SECOND) WITH ('connector' = 'kafka');
SELECT ts FROM t;
