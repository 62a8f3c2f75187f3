CREATE TABLE orders (
  id BIGINT NOT NULL, customer ROW<name VARCHAR, address ROW<city VARCHAR, zip VARCHAR>>,
  items ARRAY<ROW<sku VARCHAR, quantity INT, price DECIMAL(10, 2)>>, labels MAP<VARCHAR, VARCHAR>, note VARCHAR, placed TIMESTAMP_LTZ(3)
) WITH ('connector' = 'file', 'path' = 'orders/*.json', 'format' = 'json');

SELECT id, sku, quantity * price AS amount, n
FROM orders CROSS JOIN UNNEST(items) WITH ORDINALITY AS item (sku, quantity, price, n)
WHERE quantity > 0;
