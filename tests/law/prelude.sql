CREATE TABLE events (
  id BIGINT NOT NULL, ts TIMESTAMP(3), user_id INT, kind VARCHAR, amount DOUBLE, price DECIMAL(10, 2), quantity INT, flag BOOLEAN,
  tags ARRAY<VARCHAR>,
  WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
) WITH ('connector' = 'file', 'path' = 'data/events-*.parquet', 'format' = 'parquet');

CREATE TABLE orders (
  order_id BIGINT, customer VARCHAR, total DECIMAL(12, 4), discount DOUBLE, ordered DATE, ts TIMESTAMP(6),
  address ROW<city VARCHAR, zip INT>, items ARRAY<ROW<sku VARCHAR, n INT>>, labels MAP<VARCHAR, VARCHAR>,
  pennies AS CAST(total * 100 AS BIGINT),
  WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
) WITH ('connector' = 'file', 'path' = 'data/orders-*.jsonl', 'format' = 'json');

CREATE TABLE words (word VARCHAR, n BIGINT) WITH ('connector' = 'file', 'path' = 'data/words.csv', 'format' = 'csv', 'csv.header' = 'true');

CREATE TABLE types (
  k INT, t TINYINT, s SMALLINT, i INT, b BIGINT, f FLOAT, d DOUBLE, e DECIMAL(38, 10), v VARCHAR, y BYTES, a DATE, m TIMESTAMP(3),
  z TIMESTAMP_LTZ(3), g BOOLEAN
) WITH ('connector' = 'file', 'path' = 'data/types.parquet', 'format' = 'parquet');

CREATE TABLE nothing (
  id BIGINT NOT NULL, ts TIMESTAMP(3), user_id INT, kind VARCHAR, amount DOUBLE, price DECIMAL(10, 2), quantity INT, flag BOOLEAN,
  tags ARRAY<VARCHAR>,
  WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
) WITH ('connector' = 'file', 'path' = 'data/nothing.parquet', 'format' = 'parquet');

CREATE TABLE single (
  id BIGINT NOT NULL, ts TIMESTAMP(3), user_id INT, kind VARCHAR, amount DOUBLE, price DECIMAL(10, 2), quantity INT, flag BOOLEAN,
  tags ARRAY<VARCHAR>,
  WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
) WITH ('connector' = 'file', 'path' = 'data/single.parquet', 'format' = 'parquet');

CREATE TABLE accounts (id BIGINT NOT NULL, owner VARCHAR, balance DECIMAL(12, 2), opened TIMESTAMP(3), address ROW<city VARCHAR, zip INT>)
WITH ('connector' = 'file', 'path' = 'data/accounts-*.jsonl', 'format' = 'debezium-json');

CREATE TABLE accounts_of_maxwell (id BIGINT NOT NULL, owner VARCHAR, balance DECIMAL(12, 2), opened TIMESTAMP(3), address ROW<city VARCHAR, zip INT>)
WITH ('connector' = 'file', 'path' = 'data/maxwell-*.jsonl', 'format' = 'maxwell-json');

CREATE TABLE accounts_of_canal (id BIGINT NOT NULL, owner VARCHAR, balance DECIMAL(12, 2), opened TIMESTAMP(3), address ROW<city VARCHAR, zip INT>)
WITH ('connector' = 'file', 'path' = 'data/canal-*.jsonl', 'format' = 'canal-json');

CREATE TABLE profiles (seq BIGINT, id BIGINT NOT NULL, owner VARCHAR, points INT, gone BOOLEAN, twice AS points * 2, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'file', 'path' = 'data/profiles-*.jsonl', 'format' = 'json', 'changelog.mode' = 'upsert', 'changelog.deleted' = 'gone');

CREATE TABLE late (k INT, n BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'file', 'path' = 'data/late.jsonl', 'format' = 'json');

CREATE TABLE events_of_a_year (
  id BIGINT NOT NULL, ts TIMESTAMP(3), kind VARCHAR, quantity INT,
  happened AS TIMESTAMP '2011-01-01 00:00:00' + (ts - TIMESTAMP '2024-02-28 23:40:00') * 14400,
  WATERMARK FOR happened AS happened - INTERVAL '40' HOUR
) WITH ('connector' = 'file', 'path' = 'data/events-*.parquet', 'format' = 'parquet');

CREATE TABLE visits (n BIGINT, who VARCHAR, day DATE, gate VARCHAR) PARTITIONED BY (day, gate)
WITH ('connector' = 'file', 'path' = 'data/visits', 'format' = 'parquet');
