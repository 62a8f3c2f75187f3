-- Each order with its customer, if there is one.
CREATE TABLE customers (id BIGINT, name VARCHAR, city VARCHAR, closed BOOLEAN)
WITH ('connector' = 'file', 'path' = 'customers.parquet', 'format' = 'parquet');
CREATE TABLE orders (id BIGINT, customer BIGINT, placed TIMESTAMP(3), total DECIMAL(10, 2))
WITH ('connector' = 'file', 'path' = 'orders.parquet', 'format' = 'parquet');
CREATE TABLE items (order_id BIGINT, sku VARCHAR, quantity INT) WITH ('connector' = 'file', 'path' = 'items.parquet', 'format' = 'parquet');

SELECT o.id, c.name, c.city, i.sku, i.quantity * 2 AS twice
FROM orders AS o
LEFT JOIN customers AS c ON o.customer = c.id
JOIN items AS i ON i.order_id = o.id AND i.quantity > 1  -- what is bought more than once
WHERE o.total > 100
  AND o.customer NOT IN (7, 8)
  AND c.city IN (SELECT city FROM customers WHERE NOT closed)
EMIT CHANGES;
