-- The tables of the shop and of the flights: what every question of docs/cookbook.md is asked of. Paths are from the root of a clone.
-- Times of the shop are UTC. Those of the flights and of the weather are what clocks in New York showed.
--
--     cat sql_examples/shop/tables.sql question.sql | ouzel run -

CREATE TABLE orders (
  order_id BIGINT, ts TIMESTAMP(3), customer_id BIGINT, product_id BIGINT, quantity INT, amount DECIMAL(10, 2),
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
) WITH ('connector' = 'file', 'path' = 'sql_examples/shop/orders.csv', 'format' = 'csv');

CREATE TABLE clicks (
  click_id BIGINT, ts TIMESTAMP(3), customer_id BIGINT, page VARCHAR,
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
) WITH ('connector' = 'file', 'path' = 'sql_examples/shop/clicks.jsonl', 'format' = 'json');

CREATE TABLE prices (
  ts TIMESTAMP(3), product_id BIGINT, price DECIMAL(10, 2),
  WATERMARK FOR ts AS ts
) WITH ('connector' = 'file', 'path' = 'sql_examples/shop/prices.csv', 'format' = 'csv');

CREATE TABLE customers (customer_id BIGINT, name VARCHAR, city VARCHAR, time_zone VARCHAR)
WITH ('connector' = 'file', 'path' = 'sql_examples/shop/customers.csv', 'format' = 'csv');

CREATE TABLE products (product_id BIGINT, product VARCHAR, category VARCHAR)
WITH ('connector' = 'file', 'path' = 'sql_examples/shop/products.csv', 'format' = 'csv');

CREATE TABLE flights (
  ts TIMESTAMP(3), carrier VARCHAR, flight INT, origin VARCHAR, dest VARCHAR, dep_delay INT,
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
) WITH ('connector' = 'file', 'path' = 'sql_examples/data/flights.parquet', 'format' = 'parquet');

CREATE TABLE weather (
  ts TIMESTAMP(3), origin VARCHAR, wind_speed DOUBLE,
  WATERMARK FOR ts AS ts
) WITH ('connector' = 'file', 'path' = 'sql_examples/data/weather.parquet', 'format' = 'parquet');

CREATE TABLE airlines (carrier VARCHAR, name VARCHAR)
WITH ('connector' = 'file', 'path' = 'sql_examples/data/airlines.parquet', 'format' = 'parquet');
