-- error: COPY is not supported: a table reads its file itself: add WITH ('connector' = 'file', 'path' = 'orders.csv', 'format' = 'csv') to CREATE TABLE orders
-- at: COPY
CREATE TABLE orders (order_id BIGINT, ts TIMESTAMP, amount DECIMAL(10, 2));
COPY orders FROM 'orders.csv' WITH (FORMAT csv, HEADER true);
SELECT COUNT(*) FROM orders;
