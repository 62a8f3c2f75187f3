CREATE TABLE orders (
  id BIGINT NOT NULL, customer ROW<name VARCHAR, address ROW<city VARCHAR, zip VARCHAR>>,
  items ARRAY<ROW<sku VARCHAR, quantity INT, price DECIMAL(10, 2)>>, labels MAP<VARCHAR, VARCHAR>, note VARCHAR, placed TIMESTAMP_LTZ(3)
) WITH ('connector' = 'file', 'path' = 'orders/*.json', 'format' = 'json');

SELECT customer.address.city, COUNT(*) AS orders, COUNT(ROW(id, note)) AS rows_of_two
FROM orders
GROUP BY customer.address.city;
