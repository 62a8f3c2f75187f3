-- error: there is no connector 'postgres-cdc': no table of a database is read by itself; let Debezium write its changes to Kafka or to files, and read these with 'format' = 'debezium-json': WITH ('connector' = 'kafka', 'topic' = '...', 'format' = 'debezium-json')
-- at: 'connector' = 'postgres-cdc'
CREATE TABLE customers (id BIGINT, name STRING) WITH ('connector' = 'postgres-cdc', 'hostname' = 'localhost');
SELECT * FROM customers;
