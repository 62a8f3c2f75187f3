CREATE TABLE clicks (
  page VARCHAR, visitor BIGINT, at TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', WATERMARK FOR at AS at
) WITH ('connector' = 'kafka', 'bootstrap.servers' = 'broker:9092', 'topic' = 'clicks', 'format' = 'json', 'spark.source' = 'jvm');

SELECT page, COUNT(*) AS clicks FROM clicks GROUP BY page;
