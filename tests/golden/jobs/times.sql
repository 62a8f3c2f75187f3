CREATE TABLE orders (
  id BIGINT NOT NULL, customer ROW<name VARCHAR, address ROW<city VARCHAR, zip VARCHAR>>,
  items ARRAY<ROW<sku VARCHAR, quantity INT, price DECIMAL(10, 2)>>, labels MAP<VARCHAR, VARCHAR>, note VARCHAR, placed TIMESTAMP_LTZ(3)
) WITH ('connector' = 'file', 'path' = 'orders/*.json', 'format' = 'json');

SELECT id, CAST(placed AS DATE) AS placed_on, EXTRACT(HOUR FROM placed) AS placed_at, placed + INTERVAL '3' DAY AS due
FROM orders
WHERE placed >= TIMESTAMP '2024-01-01 00:00:00';
