-- error: these are options of ksqlDB; write WITH ('connector' = 'kafka', 'bootstrap.servers' = 'localhost:9092', 'topic' = 'clicks', 'format' = 'json')
-- at: KAFKA_TOPIC = 'clicks'
CREATE TABLE clicks (page VARCHAR) WITH (KAFKA_TOPIC = 'clicks', VALUE_FORMAT = 'JSON');
SELECT page FROM clicks;
