-- query: union_all
SELECT id AS k, kind AS name FROM events WHERE quantity > 15 UNION ALL SELECT order_id, customer FROM orders;

-- query: union_all_widens_types
SELECT quantity AS n, 'events' AS source FROM events UNION ALL SELECT order_id, 'orders' FROM orders UNION ALL SELECT n, 'words' FROM words;

-- query: union_all_keeps_duplicates
SELECT kind FROM events UNION ALL SELECT kind FROM events;

-- query: union_then_group
SELECT name, COUNT(*) AS n, SUM(size) AS total
FROM (SELECT kind AS name, CAST(price AS DECIMAL(20, 4)) AS size FROM events UNION ALL SELECT customer, CAST(total AS DECIMAL(20, 4)) FROM orders) AS both_tables
GROUP BY name;

-- query: union_in_window
CREATE VIEW all_times AS SELECT ts, 'e' AS source FROM events UNION ALL SELECT ts, 'o' FROM orders;
SELECT window_start, source, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE all_times, DESCRIPTOR(ts), INTERVAL '5' MINUTES)) GROUP BY window_start, window_end, source;
-- duckdb:
SELECT tumble(ts, INTERVAL 5 MINUTE) AS window_start, source, COUNT(*) AS n
FROM (SELECT ts, 'e' AS source FROM events UNION ALL SELECT ts, 'o' FROM orders) GROUP BY 1, 2;

-- query: view_read_twice
CREATE VIEW active AS SELECT user_id, kind, quantity FROM events WHERE flag;
SELECT kind AS name, COUNT(*) AS n FROM active GROUP BY kind UNION ALL SELECT 'total', SUM(quantity) FROM active;
-- duckdb:
SELECT kind AS name, COUNT(*) AS n FROM events WHERE flag GROUP BY kind UNION ALL SELECT 'total', SUM(quantity) FROM events WHERE flag;

-- query: view_of_a_view
CREATE VIEW large AS SELECT id, kind, amount FROM events WHERE amount > 50;
CREATE VIEW large_buys AS SELECT id, amount * 2 AS twice FROM large WHERE kind = 'buy';
SELECT id, twice FROM large_buys WHERE twice < 300;
-- duckdb:
SELECT id, amount * 2 AS twice FROM events WHERE amount > 50 AND kind = 'buy' AND amount * 2 < 300;

-- query: aggregate_view_shared
CREATE VIEW counts AS SELECT user_id, COUNT(*) AS n FROM events GROUP BY user_id;
SELECT n, COUNT(*) AS users FROM counts GROUP BY n UNION ALL SELECT user_id, n FROM counts WHERE n > 20;
-- duckdb:
WITH counts AS (SELECT user_id, COUNT(*) AS n FROM events GROUP BY user_id)
SELECT n, COUNT(*) AS users FROM counts GROUP BY n UNION ALL SELECT user_id, n FROM counts WHERE n > 20;

-- query: with_clause
WITH recent AS (SELECT kind, quantity FROM events WHERE id > 600) SELECT kind, SUM(quantity) AS total FROM recent GROUP BY kind;

-- query: materialized_view_read_twice
CREATE MATERIALIZED VIEW counts AS SELECT user_id, COUNT(*) AS n FROM events GROUP BY user_id;
SELECT c.user_id, c.n, t.users FROM counts AS c JOIN (SELECT n, COUNT(*) AS users FROM counts GROUP BY n) AS t ON c.n = t.n;
-- duckdb:
WITH counts AS (SELECT user_id, COUNT(*) AS n FROM events GROUP BY user_id)
SELECT c.user_id, c.n, t.users FROM counts AS c JOIN (SELECT n, COUNT(*) AS users FROM counts GROUP BY n) AS t ON c.n = t.n;
