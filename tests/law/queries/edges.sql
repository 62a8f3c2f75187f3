-- query: empty_projection
SELECT id, kind FROM nothing;

-- query: empty_grouped
SELECT kind, COUNT(*) AS n FROM nothing GROUP BY kind;

-- query: empty_global_aggregate_is_one_row
SELECT COUNT(*) AS n, SUM(quantity) AS total, MAX(kind) AS last_kind FROM nothing;

-- query: empty_window
SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE nothing, DESCRIPTOR(ts), INTERVAL '5' MINUTES)) GROUP BY window_start, window_end;
-- duckdb:
SELECT ts AS window_start, COUNT(*) AS n FROM nothing GROUP BY 1;

-- query: empty_beside_full
SELECT kind, COUNT(*) AS n FROM (SELECT kind FROM nothing UNION ALL SELECT kind FROM events) AS both_tables GROUP BY kind;

-- query: single_row
SELECT id, kind, amount, price, tags FROM single;

-- query: single_row_grouped
SELECT kind, COUNT(*) AS n, SUM(amount) AS total, AVG(price) AS mean FROM single GROUP BY kind;
-- duckdb:
SELECT kind, COUNT(*) AS n, SUM(amount) AS total, CAST(rounded((SUM(price) * 100)::HUGEINT, 100 * COUNT(price), 6) AS DECIMAL(14, 6)) AS mean FROM single GROUP BY kind;

-- query: single_row_in_window
SELECT window_start, window_end, COUNT(*) AS n
FROM TABLE(HOP(TABLE single, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '3' MINUTES)) GROUP BY window_start, window_end;
-- duckdb:
SELECT window_start, window_start + INTERVAL 3 MINUTE AS window_end, COUNT(*) AS n
FROM (SELECT unnest(hops(ts, INTERVAL 1 MINUTE, INTERVAL 3 MINUTE)) AS window_start FROM single) GROUP BY 1;

-- query: all_values_null
SELECT user_id, SUM(amount) AS total, COUNT(amount) AS n, MIN(price) AS low, AVG(amount) AS mean, MAX(kind) AS last_kind
FROM (SELECT user_id, NULLIF(amount, amount) AS amount, NULLIF(price, price) AS price, NULLIF(kind, kind) AS kind FROM events) AS nulls GROUP BY user_id;

-- query: key_always_null
SELECT NULLIF(kind, kind) AS nobody, COUNT(*) AS n FROM events GROUP BY NULLIF(kind, kind);

-- query: what_nobody_asks_for_fails_no_row
SELECT kind, SUM(x) FILTER (WHERE 1 = 2) AS none, COUNT(x) FILTER (WHERE CAST(NULL AS BOOLEAN)) AS zero, COUNT(*) AS n,
  MAX(CASE WHEN FALSE THEN x END) AS branch, MAX(COALESCE(1, x)) AS first, BOOL_OR(x > 1 AND FALSE) AS f
FROM (SELECT kind, user_id, SUM(10 / (user_id - user_id)) AS x FROM events WHERE user_id IS NOT NULL GROUP BY kind, user_id) AS q
GROUP BY kind EMIT CHANGES;
-- duckdb:
SELECT kind, NULL::BIGINT AS none, 0 AS zero, COUNT(DISTINCT user_id) AS n, NULL::BIGINT AS branch, 1 AS first, FALSE AS f
FROM events WHERE user_id IS NOT NULL GROUP BY kind;
