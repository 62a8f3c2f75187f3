-- error: LATERAL with groups or LIMIT with another correlation than equality is not supported; write JOIN prices FOR SYSTEM_TIME AS OF o.ts AS p ON p.product_id = o.product_id, which meets the last row at or before o.ts
-- at: p.ts <= o.ts
CREATE TABLE orders (product_id BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');
CREATE TABLE prices (product_id BIGINT, ts TIMESTAMP(3), price DOUBLE, WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');
SELECT o.ts, q.price FROM orders AS o CROSS JOIN LATERAL (SELECT p.price FROM prices AS p
WHERE p.product_id = o.product_id AND p.ts <= o.ts ORDER BY p.ts DESC LIMIT 1) AS q;
