-- error: a subquery as a value with another correlation than equality is not supported; write JOIN prices FOR SYSTEM_TIME AS OF o.ts AS p ON p.product_id = o.product_id, which meets the last row at or before o.ts
-- at: o.ts >= p.ts
CREATE TABLE orders (product_id BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');
CREATE TABLE prices (product_id BIGINT, ts TIMESTAMP(3), price DOUBLE, WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');
SELECT o.ts, (SELECT p.price FROM prices AS p WHERE p.product_id = o.product_id AND o.ts >= p.ts ORDER BY p.ts DESC LIMIT 1) AS price FROM orders AS o;
