-- error: there is no column order_ts in o; write the time of the row: o.ts
-- at: order_ts
CREATE TABLE orders (order_id BIGINT, ts TIMESTAMP(3), customer_id BIGINT, zone VARCHAR, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'o.csv', 'format' = 'csv');
CREATE TABLE prices (ts TIMESTAMP(3), customer_id BIGINT, price INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'p.csv', 'format' = 'csv');
SELECT o.order_id FROM orders AS o JOIN prices FOR SYSTEM_TIME AS OF o.order_ts AS p ON o.customer_id = p.customer_id;
