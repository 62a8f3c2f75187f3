-- error: there is no table or column window; write window_start and window_end, FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' MINUTE), and GROUP BY window_start, window_end
-- at: window
CREATE TABLE orders (order_id BIGINT, ts TIMESTAMP(3), customer_id BIGINT, status VARCHAR, quantity INT, amount DECIMAL(10, 2),
  WATERMARK FOR ts AS ts - INTERVAL '5' MINUTE)
WITH ('connector' = 'file', 'path' = 'orders.csv', 'format' = 'csv');

SELECT window.start, COUNT(*) AS n
FROM orders
GROUP BY window(ts, '10 minutes');
