-- error: CREATE SINK is not supported: write CREATE TABLE out WITH ('connector' = 'kafka', 'bootstrap.servers' = 'h:1', 'topic' = 'a', 'format' = 'json') AS SELECT * FROM totals
-- at: CREATE SINK
CREATE SINK out FROM totals WITH (connector = 'kafka', properties.bootstrap.server = 'h:1', topic = 'a', type = 'append-only') FORMAT PLAIN ENCODE JSON;
