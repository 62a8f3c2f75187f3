-- query: cast_numbers
SELECT id, CAST(quantity AS BIGINT) AS big, CAST(quantity AS DOUBLE) AS broad, CAST(price AS DOUBLE) AS loose, CAST(quantity AS SMALLINT) AS small
FROM events;

-- query: cast_truncates
SELECT id, CAST(amount AS INT) AS whole, CAST(price AS BIGINT) AS units FROM events;
-- duckdb:
SELECT id, CAST(trunc(amount) AS INTEGER) AS whole, CAST(trunc(price) AS BIGINT) AS units FROM events;

-- query: cast_to_text
SELECT id, CAST(quantity AS VARCHAR) AS q, CAST(price AS VARCHAR) AS p, CAST(flag AS VARCHAR) AS f FROM events;

-- query: cast_from_text
SELECT n, CAST(CAST(n AS VARCHAR) AS INT) AS back, CAST('1.25' AS DECIMAL(5, 2)) AS money, CAST('2024-02-29' AS DATE) AS day FROM words;

-- query: try_cast
SELECT order_id, TRY_CAST(customer AS INT) AS never, TRY_CAST(labels['n'] AS INT) AS number FROM orders;

-- query: cast_decimals
SELECT order_id, CAST(total AS DECIMAL(10, 2)) AS cents, CAST(total AS DECIMAL(20, 6)) AS wide FROM orders;

-- query: cast_time
SELECT order_id, CAST(ts AS DATE) AS day, CAST(ordered AS TIMESTAMP(3)) AS midnight FROM orders;

-- query: every_type_passes
SELECT * FROM types;

-- query: every_type_grouped_by_itself
SELECT t, s, i, b, v, y, a, m, z, g, e, COUNT(*) AS n FROM types GROUP BY t, s, i, b, v, y, a, m, z, g, e;

-- query: extremes_of_every_type
SELECT g, MIN(t) AS t0, MAX(t) AS t1, MIN(s) AS s0, MAX(s) AS s1, MIN(i) AS i0, MAX(b) AS b1, MIN(e) AS e0, MAX(e) AS e1, MIN(v) AS v0, MAX(v) AS v1,
  MIN(a) AS a0, MAX(a) AS a1, MIN(m) AS m0, MAX(m) AS m1, MAX(z) AS z1
FROM types GROUP BY g;

-- query: nan_is_the_largest
SELECT g, MAX(f) AS f1, MAX(d) AS d1, MIN(d) AS d0 FROM types GROUP BY g;

-- query: floats_as_keys
SELECT d, COUNT(*) AS n FROM types GROUP BY d;

-- query: nested_types_pass
SELECT order_id, address, items, labels FROM orders WHERE order_id < 300;

-- query: casts_that_cut
SELECT order_id, CAST(customer AS VARCHAR(3)) AS short, CAST(order_id AS VARCHAR(1)) AS digit, CAST(ts AS TIMESTAMP(0)) AS second, ts::TIMESTAMP(3) AS milli,
  CAST('1969-12-31 23:59:59.9876543' AS TIMESTAMP_LTZ(3)) AS before, TRY_CAST(customer AS TIMESTAMP(3)) AS never, customer::VARCHAR(99) AS whole FROM orders;
-- duckdb:
SELECT order_id, LEFT(customer, 3) AS short, LEFT(order_id::VARCHAR, 1) AS digit, DATE_TRUNC('second', ts) AS second, DATE_TRUNC('millisecond', ts) AS milli,
  TIMESTAMP '1969-12-31 23:59:59.987' AS before, CAST(NULL AS TIMESTAMP) AS never, customer AS whole FROM orders;
