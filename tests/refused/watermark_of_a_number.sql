-- error: ms is BIGINT, and event time is a TIMESTAMP; compute one: ts AS TO_TIMESTAMP_LTZ(ms, 3) of milliseconds, with 0 of seconds
-- at: ms
CREATE TABLE e (id BIGINT, ms BIGINT, WATERMARK FOR ms AS ms - INTERVAL '5' SECOND) WITH ('connector' = 'file', 'path' = 'e.csv');
SELECT * FROM e;
