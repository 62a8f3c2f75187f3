-- error: ORDER is a reserved word; did you mean orders?
-- at: order
CREATE TABLE orders (order_id BIGINT, ts TIMESTAMP(3), customer_id BIGINT, status VARCHAR, quantity INT, amount DECIMAL(10, 2),
  WATERMARK FOR ts AS ts - INTERVAL '5' MINUTE)
WITH ('connector' = 'file', 'path' = 'orders.csv', 'format' = 'csv');

SELECT * FROM order WHERE amount > 20;
