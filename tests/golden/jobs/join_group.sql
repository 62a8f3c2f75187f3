-- How much each city has ordered, and what customers have never ordered anything.
CREATE TABLE customers (id BIGINT, name VARCHAR, city VARCHAR) WITH ('connector' = 'file', 'path' = 'customers.parquet', 'format' = 'parquet');
CREATE TABLE orders (id BIGINT, customer BIGINT, total DECIMAL(10, 2)) WITH ('connector' = 'file', 'path' = 'orders.parquet', 'format' = 'parquet');
CREATE TABLE cities (city VARCHAR, orders BIGINT, total DECIMAL(38, 2), PRIMARY KEY (city) NOT ENFORCED) WITH ('connector' = 'blackhole');

CREATE VIEW known AS SELECT o.id, c.city, total FROM orders AS o JOIN customers AS c ON o.customer = c.id;

INSERT INTO cities SELECT city, COUNT(*), SUM(total) FROM known GROUP BY city;

SELECT name, city FROM customers ANTI JOIN orders ON orders.customer = customers.id EMIT CHANGES;
