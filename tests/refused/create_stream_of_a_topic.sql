-- error: CREATE STREAM is not supported: write CREATE TABLE clicks (click_id BIGINT, page VARCHAR) WITH ('connector' = 'kafka', 'bootstrap.servers' = 'localhost:9092', 'topic' = 'clicks', 'format' = 'json', 'key.field' = 'click_id')
-- at: CREATE STREAM
CREATE STREAM clicks (click_id BIGINT KEY, page VARCHAR) WITH (KAFKA_TOPIC = 'clicks', VALUE_FORMAT = 'JSON', PARTITIONS = 1);
