CREATE TABLE orders (
  id BIGINT NOT NULL, customer ROW<name VARCHAR, address ROW<city VARCHAR, zip VARCHAR>>,
  items ARRAY<ROW<sku VARCHAR, quantity INT, price DECIMAL(10, 2)>>, labels MAP<VARCHAR, VARCHAR>, note VARCHAR, placed TIMESTAMP_LTZ(3)
) WITH ('connector' = 'file', 'path' = 'orders/*.json', 'format' = 'json');

SELECT UPPER(TRIM(note)) AS note, labels['origin'] AS origin, CARDINALITY(items) AS items, COALESCE(note, 'none') || '!' AS shouted
FROM orders
WHERE note IS NOT NULL OR CARDINALITY(items) BETWEEN 1 AND 3;
