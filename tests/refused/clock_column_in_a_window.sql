-- error: pt is PROCTIME(), which is only supported in JOIN ... FOR SYSTEM_TIME AS OF; write ts, which is event time
-- at: pt
CREATE TABLE clicks (url STRING, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts) WITH ('connector' = 'file', 'path' = 'clicks.json');
SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(pt), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;
