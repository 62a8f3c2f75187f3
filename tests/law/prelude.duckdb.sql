-- The same tables for the oracle, and the windows of the language as plain DuckDB.
CREATE TABLE events AS SELECT * FROM read_parquet('data/events-*.parquet');
CREATE TABLE orders AS SELECT *, CAST(trunc(total * 100) AS BIGINT) AS pennies FROM read_json('data/orders-*.jsonl', format = 'newline_delimited',
  columns = {order_id: 'BIGINT', customer: 'VARCHAR', total: 'DECIMAL(12, 4)', discount: 'DOUBLE', ordered: 'DATE', ts: 'TIMESTAMP',
             address: 'STRUCT(city VARCHAR, zip INTEGER)', items: 'STRUCT(sku VARCHAR, n INTEGER)[]', labels: 'MAP(VARCHAR, VARCHAR)'});
CREATE TABLE words AS SELECT * FROM read_csv('data/words.csv', header = true, columns = {word: 'VARCHAR', n: 'BIGINT'});
CREATE TABLE types AS SELECT * FROM read_parquet('data/types.parquet');
CREATE TABLE nothing AS SELECT * FROM read_parquet('data/nothing.parquet');
CREATE TABLE single AS SELECT * FROM read_parquet('data/single.parquet');
CREATE TABLE accounts AS SELECT row.* FROM (
  SELECT before AS row, -1 AS n FROM read_json('data/accounts-*.jsonl', format = 'newline_delimited', columns = {
    before: 'STRUCT(id BIGINT, owner VARCHAR, balance DECIMAL(12, 2), opened TIMESTAMP, address STRUCT(city VARCHAR, zip INTEGER))'})
  UNION ALL SELECT after, 1 FROM read_json('data/accounts-*.jsonl', format = 'newline_delimited', columns = {
    after: 'STRUCT(id BIGINT, owner VARCHAR, balance DECIMAL(12, 2), opened TIMESTAMP, address STRUCT(city VARCHAR, zip INTEGER))'})
) WHERE row IS NOT NULL GROUP BY row HAVING sum(n) > 0;
CREATE TABLE accounts_of_maxwell AS SELECT * FROM accounts;
CREATE TABLE accounts_of_canal AS SELECT * FROM accounts;
CREATE TABLE profiles AS SELECT * EXCLUDE place, points * 2 AS twice FROM (
  SELECT *, row_number() OVER (PARTITION BY id ORDER BY seq DESC) AS place FROM read_json('data/profiles-*.jsonl', format = 'newline_delimited',
    columns = {seq: 'BIGINT', id: 'BIGINT', owner: 'VARCHAR', points: 'INTEGER', gone: 'BOOLEAN'})
) WHERE place = 1 AND NOT coalesce(gone, false);
CREATE TABLE visits AS SELECT n, who, day, gate FROM read_parquet('data/visits/*/*/*.parquet', hive_partitioning = true,
  hive_types = {day: DATE, gate: VARCHAR});
CREATE TABLE late AS SELECT * FROM read_json('data/late.jsonl', format = 'newline_delimited',
  columns = {k: 'INTEGER', n: 'BIGINT', ts: 'TIMESTAMP'});
CREATE TABLE events_of_a_year AS
  SELECT id, ts, kind, quantity, TIMESTAMP '2011-01-01 00:00:00' + (ts - TIMESTAMP '2024-02-28 23:40:00') * 14400 AS happened FROM events;
-- What clocks in a zone show at a time of UTC, and the UTC time at which they show a time.
CREATE MACRO clock(happened, zone) AS (happened AT TIME ZONE 'UTC') AT TIME ZONE zone;
CREATE MACRO in_utc(shown, zone) AS (shown AT TIME ZONE zone) AT TIME ZONE 'UTC';
-- The window of `ts`, and all windows that `ts` lies in.
CREATE MACRO tumble(ts, size) AS time_bucket(size, ts, TIMESTAMP '1970-01-01');
CREATE MACRO hops(ts, slide, size) AS list_filter(
  list_transform(range(0, 1000), lambda i: time_bucket(slide, ts, TIMESTAMP '1970-01-01') - i * slide), lambda start: start + size > ts);
