-- error: FLATTEN is not supported; write CROSS JOIN UNNEST(SPLIT(o.zone, '/')) AS f (value)
-- at: FLATTEN(input => SPLIT(o.zone, '/'))
CREATE TABLE orders (order_id BIGINT, ts TIMESTAMP(3), customer_id BIGINT, zone VARCHAR, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'o.csv', 'format' = 'csv');
CREATE TABLE prices (ts TIMESTAMP(3), customer_id BIGINT, price INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'p.csv', 'format' = 'csv');
SELECT o.order_id, f.value FROM orders AS o, LATERAL FLATTEN(input => SPLIT(o.zone, '/')) AS f;
