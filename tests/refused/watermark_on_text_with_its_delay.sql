-- error: ts is VARCHAR, and event time is a TIMESTAMP; declare ts TIMESTAMP(3), which reads such texts; or compute one of another name: event_time AS CAST(ts AS TIMESTAMP(3)), and WATERMARK FOR event_time AS event_time - INTERVAL '5' MINUTE
-- at: ts
CREATE TABLE orders (order_id BIGINT, ts VARCHAR, amount DECIMAL(10, 2),
  WATERMARK FOR ts AS ts - INTERVAL '5' MINUTE)
WITH ('connector' = 'file', 'path' = 'orders.csv', 'format' = 'csv');
SELECT window_start, SUM(amount) AS revenue FROM TUMBLE(orders, ts, INTERVAL '1' HOUR) GROUP BY window_start;
