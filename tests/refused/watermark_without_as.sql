-- error: this WATERMARK has no AS; write WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
-- at: ts - INTERVAL '5' SECOND
CREATE TABLE clicks (url STRING, ts TIMESTAMP(3), WATERMARK FOR ts - INTERVAL '5' SECOND) WITH ('connector' = 'file', 'path' = 'clicks.json');
SELECT url FROM clicks;
