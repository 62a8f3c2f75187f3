CREATE TABLE orders (
  id BIGINT NOT NULL, customer ROW<name VARCHAR, address ROW<city VARCHAR, zip VARCHAR>>,
  items ARRAY<ROW<sku VARCHAR, quantity INT, price DECIMAL(10, 2)>>, labels MAP<VARCHAR, VARCHAR>, note VARCHAR, placed TIMESTAMP_LTZ(3)
) WITH ('connector' = 'file', 'path' = 'orders/*.json', 'format' = 'json');

SELECT id, customer.name AS customer, customer.address.city AS city
FROM orders
WHERE customer.address.zip = '10001';
