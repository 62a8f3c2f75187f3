-- error: this WATERMARK has no FOR and no AS; write WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
-- at: WATERMARK ts
CREATE TABLE f (ts TIMESTAMP(3), WATERMARK ts - INTERVAL '5' SECOND) WITH ('connector' = 'file', 'path' = 'f', 'format' = 'csv');
SELECT ts FROM f;
