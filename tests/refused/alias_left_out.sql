-- error: no table is called p here; write prices.customer_id, or prices AS p in FROM
-- at: p
CREATE TABLE orders (order_id BIGINT, ts TIMESTAMP(3), customer_id BIGINT, zone VARCHAR, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'o.csv', 'format' = 'csv');
CREATE TABLE prices (ts TIMESTAMP(3), customer_id BIGINT, price INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'p.csv', 'format' = 'csv');
SELECT o.order_id, p.price FROM orders AS o JOIN prices ON o.customer_id = p.customer_id;
