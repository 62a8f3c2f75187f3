-- query: ttl_of_groups
SELECT /*+ STATE_TTL('e' = '20 s') */ user_id, UPPER(kind) AS k, COUNT(*) AS n, MAX(amount) AS most, COUNT(DISTINCT quantity) AS kinds, SUM(price) FILTER (WHERE flag) AS total
FROM events AS e GROUP BY user_id, k HAVING COUNT(*) > 1;
-- duckdb:
WITH marked AS (SELECT *, UPPER(kind) AS k, COALESCE(ts > LAG(ts) OVER (PARTITION BY user_id, UPPER(kind) ORDER BY ts) + INTERVAL 20 SECOND, true) AS begins FROM events),
numbered AS (SELECT *, COUNT(*) FILTER (WHERE begins) OVER (PARTITION BY user_id, k ORDER BY ts) AS life FROM marked)
SELECT user_id, k, COUNT(*) AS n, MAX(amount) AS most, COUNT(DISTINCT quantity) AS kinds, SUM(price) FILTER (WHERE flag) AS total
FROM numbered GROUP BY user_id, k, life HAVING COUNT(*) > 1;

-- query: ttl_of_over_and_first_rows
CREATE VIEW best AS
SELECT /*+ STATE_TTL('o' = '2 s') */ order_id, address.zip AS zip, total FROM orders AS o QUALIFY ROW_NUMBER() OVER (PARTITION BY address.zip ORDER BY total DESC NULLS LAST, order_id) <= 2;
SELECT order_id, zip, total, 0 AS place, 0 AS gap FROM best
UNION ALL
SELECT /*+ STATE_TTL('e' = '5 s') */ id, user_id, price, RANK() OVER (PARTITION BY user_id ORDER BY ts), id - LAG(id) OVER (PARTITION BY user_id ORDER BY ts) FROM events AS e;
-- duckdb:
WITH marked AS (SELECT *, address.zip AS zip, COALESCE(ts > LAG(ts) OVER (PARTITION BY address.zip ORDER BY ts) + INTERVAL 2 SECOND, true) AS begins FROM orders),
numbered AS (SELECT *, COUNT(*) FILTER (WHERE begins) OVER (PARTITION BY zip ORDER BY ts) AS life FROM marked),
timed AS (SELECT *, COALESCE(ts > LAG(ts) OVER (PARTITION BY user_id ORDER BY ts) + INTERVAL 5 SECOND, true) AS begins FROM events),
lives AS (SELECT *, COUNT(*) FILTER (WHERE begins) OVER (PARTITION BY user_id ORDER BY ts) AS life FROM timed)
SELECT order_id, zip, total, 0 AS place, 0 AS gap FROM numbered QUALIFY ROW_NUMBER() OVER (PARTITION BY zip, life ORDER BY total DESC NULLS LAST, order_id) <= 2
UNION ALL
SELECT id, user_id, price, RANK() OVER (PARTITION BY user_id, life ORDER BY ts), id - LAG(id) OVER (PARTITION BY user_id, life ORDER BY ts, id) FROM lives;

-- query: ttl_of_all
SET 'table.exec.state.ttl' = '3 s';
CREATE VIEW met AS SELECT e.user_id, e.kind, e.ts FROM events AS e JOIN orders AS o ON e.user_id = o.address.zip;
SELECT DISTINCT user_id, kind FROM met;
-- duckdb:
WITH met AS (SELECT e.user_id, e.kind, e.ts FROM events AS e JOIN orders AS o ON e.user_id = o.address.zip AND o.ts <= e.ts + INTERVAL 3 SECOND AND e.ts <= o.ts + INTERVAL 3 SECOND),
marked AS (SELECT *, COALESCE(ts > LAG(ts) OVER (PARTITION BY user_id, kind ORDER BY ts) + INTERVAL 3 SECOND, true) AS begins FROM met)
SELECT user_id, kind FROM marked WHERE begins;
