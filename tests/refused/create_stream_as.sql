-- error: CREATE STREAM is not supported: write CREATE TABLE big WITH ('connector' = 'kafka', 'bootstrap.servers' = 'localhost:9092', 'topic' = 'big', 'format' = 'avro-confluent') AS SELECT page FROM clicks
-- at: CREATE OR REPLACE STREAM
CREATE OR REPLACE STREAM big WITH (KAFKA_TOPIC = 'big', VALUE_FORMAT = 'AVRO') AS SELECT page FROM clicks EMIT CHANGES;
