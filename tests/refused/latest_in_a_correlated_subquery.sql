-- error: a subquery that compares with the query around it and is limited to its first rows is not supported here; write LEFT JOIN LATERAL (SELECT ... ORDER BY ... LIMIT 1) AS x ON TRUE, and compare with x
-- at: 1
CREATE TABLE orders (order_id BIGINT, ts TIMESTAMP(3), customer_id BIGINT, zone VARCHAR, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'o.csv', 'format' = 'csv');
CREATE TABLE prices (ts TIMESTAMP(3), customer_id BIGINT, price INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'p.csv', 'format' = 'csv');
SELECT o.order_id, (SELECT p.price FROM prices AS p WHERE p.customer_id = o.customer_id LIMIT 1) FROM orders AS o;
