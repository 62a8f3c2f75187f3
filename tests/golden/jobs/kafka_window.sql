CREATE TABLE clicks (
  page VARCHAR, visitor BIGINT, at TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', WATERMARK FOR at AS at
) WITH ('connector' = 'kafka', 'bootstrap.servers' = 'broker:9092', 'topic' = 'clicks', 'format' = 'json');

CREATE TABLE pages (page VARCHAR, window_start TIMESTAMP(3), visitors BIGINT)
WITH ('connector' = 'kafka', 'bootstrap.servers' = 'broker:9092', 'topic' = 'pages', 'format' = 'json');

INSERT INTO pages
SELECT page, window_start, COUNT(DISTINCT visitor)
FROM TABLE(HOP(TABLE clicks, DESCRIPTOR(at), INTERVAL '5' MINUTE, INTERVAL '1' HOUR))
GROUP BY page, window_start, window_end;
