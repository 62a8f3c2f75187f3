-- error: no table is called x here; write prices.price, or prices AS x in FROM
-- at: x
CREATE TABLE orders (order_id BIGINT, ts TIMESTAMP(3), customer_id BIGINT, zone VARCHAR, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'o.csv', 'format' = 'csv');
CREATE TABLE prices (ts TIMESTAMP(3), customer_id BIGINT, price INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'p.csv', 'format' = 'csv');
SELECT o.order_id, x.price FROM orders AS o JOIN prices USING (customer_id);
