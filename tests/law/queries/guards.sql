-- query: arguments_that_a_filter_guards
SELECT kind, COUNT(*) AS n, SUM(100 / quantity) FILTER (WHERE quantity <> 0) AS total, AVG(100 / quantity) FILTER (WHERE quantity > 0 AND flag) AS mean,
  COUNT(DISTINCT 100 / quantity) FILTER (WHERE quantity <> 0) AS several, MIN(1000 / (quantity - 7)) FILTER (WHERE quantity > 7) AS least,
  MAX_BY(id, 100 / quantity * 10000 + id) FILTER (WHERE quantity <> 0) AS best, COUNT_IF(100 / quantity > 9) FILTER (WHERE quantity <> 0) AS few,
  STRING_AGG(CAST(100 / quantity AS VARCHAR), ',' ORDER BY id) FILTER (WHERE quantity <> 0) AS listed,
  ARRAY_AGG(id ORDER BY 100 / quantity, id) FILTER (WHERE quantity <> 0) AS ordered,
  PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY 100 / quantity) FILTER (WHERE quantity <> 0) AS middle,
  COVAR_POP(100 / quantity, id) FILTER (WHERE quantity <> 0) AS together,
  SUM(CAST(kind AS INT)) FILTER (WHERE kind <> kind) AS nobody, SUM(100 / quantity) FILTER (WHERE NULLIF(quantity, 0) > 0) AS without_null
FROM events GROUP BY kind;
-- duckdb:
SELECT kind, COUNT(*) AS n, SUM(100 // NULLIF(quantity, 0))::BIGINT AS total, AVG(100 // NULLIF(quantity, 0)) FILTER (WHERE flag) AS mean,
  COUNT(DISTINCT 100 // NULLIF(quantity, 0)) AS several, MIN(1000 // NULLIF(quantity - 7, 0)) FILTER (WHERE quantity > 7)::BIGINT AS least,
  MAX_BY(id, 100 // NULLIF(quantity, 0) * 10000 + id) AS best, COUNT(*) FILTER (WHERE 100 // NULLIF(quantity, 0) > 9) AS few,
  STRING_AGG(CAST(100 // NULLIF(quantity, 0) AS VARCHAR), ',' ORDER BY id) FILTER (WHERE quantity <> 0) AS listed,
  ARRAY_AGG(id ORDER BY 100 // NULLIF(quantity, 0), id) FILTER (WHERE quantity <> 0) AS ordered,
  QUANTILE_CONT((100 // NULLIF(quantity, 0))::DOUBLE, 0.5) FILTER (WHERE quantity <> 0) AS middle,
  COVAR_POP(100 // NULLIF(quantity, 0), id) FILTER (WHERE quantity <> 0) AS together,
  NULL::BIGINT AS nobody, SUM(100 // NULLIF(quantity, 0))::BIGINT AS without_null
FROM events GROUP BY kind;

-- query: guarded_arguments_of_rows_that_change
SELECT n % 3 AS of_three, SUM(1000 / (n - 3)) FILTER (WHERE n > 3) AS total, MAX(1000 / (n - 3)) FILTER (WHERE n > 3) AS most,
  COUNT(DISTINCT 60 / (n - 1)) FILTER (WHERE n <> 1) AS several
FROM (SELECT user_id, quantity, COUNT(*) AS n FROM events GROUP BY user_id, quantity) AS counted GROUP BY n % 3;
-- duckdb:
SELECT n % 3 AS of_three, SUM(1000 // NULLIF(n - 3, 0)) FILTER (WHERE n > 3)::BIGINT AS total, MAX(1000 // NULLIF(n - 3, 0)) FILTER (WHERE n > 3) AS most,
  COUNT(DISTINCT 60 // NULLIF(n - 1, 0)) FILTER (WHERE n <> 1) AS several
FROM (SELECT user_id, quantity, COUNT(*) AS n FROM events GROUP BY user_id, quantity) AS counted GROUP BY n % 3;

-- query: guarded_arguments_before_the_shuffle
SELECT window_start, SUM(100 / quantity) FILTER (WHERE quantity <> 0) AS total, COUNT(*) AS n
FROM TABLE(HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES)) GROUP BY window_start, window_end;
-- duckdb:
SELECT window_start, SUM(100 // NULLIF(quantity, 0))::BIGINT AS total, COUNT(*) AS n
FROM (SELECT unnest(hops(ts, INTERVAL 5 MINUTE, INTERVAL 10 MINUTE)) AS window_start, * FROM events) GROUP BY 1;

-- query: guarded_arguments_of_grouping_sets
SELECT kind, flag, SUM(100 / quantity) FILTER (WHERE quantity <> 0) AS total FROM events GROUP BY CUBE (kind, flag);
-- duckdb:
SELECT kind, flag, SUM(100 // NULLIF(quantity, 0))::BIGINT AS total FROM events GROUP BY CUBE (kind, flag);

-- query: guarded_arguments_over_a_window
SELECT id, SUM(100 / quantity) FILTER (WHERE quantity <> 0) OVER (PARTITION BY user_id ORDER BY ts, id) AS total,
  COUNT(100 / quantity) FILTER (WHERE quantity <> 0) OVER (PARTITION BY user_id ORDER BY ts, id ROWS 3 PRECEDING) AS n FROM events;
-- duckdb:
SELECT id, SUM(100 // NULLIF(quantity, 0)) OVER (PARTITION BY user_id ORDER BY ts NULLS FIRST, id)::BIGINT AS total,
  COUNT(100 // NULLIF(quantity, 0)) OVER (PARTITION BY user_id ORDER BY ts NULLS FIRST, id ROWS 3 PRECEDING) AS n FROM events;

-- query: join_keys_that_a_conjunct_guards
SELECT a.id, b.id AS other FROM events AS a FULL JOIN events AS b ON b.quantity <> 0 AND b.id < 300 AND a.id = 100 / b.quantity AND a.quantity > 3;
-- duckdb:
SELECT a.id, b.id AS other FROM events AS a FULL JOIN events AS b ON b.id < 300 AND a.id = 100 // NULLIF(b.quantity, 0) AND a.quantity > 3;

-- query: expressions_that_a_condition_guards
SELECT id, CASE WHEN quantity <> 0 THEN 100 / quantity END AS a, CASE quantity WHEN 0 THEN -1 ELSE 100 / quantity END AS b,
  IF(quantity = 0, 0, 100 / quantity) AS c, COALESCE(quantity, 1 / (quantity - quantity)) AS d, quantity <> 0 AND 100 / quantity > 9 AS e,
  quantity = 0 OR 100 / quantity > 9 AS f, 100 / NULLIF(quantity, 0) AS g, NVL2(quantity, 1, 1 / (quantity - quantity)) AS h,
  CASE WHEN kind <> kind THEN CAST(kind AS INT) ELSE 0 END AS i
FROM events WHERE quantity = 0 OR 100 / quantity < 60;
-- duckdb:
SELECT id, 100 // NULLIF(quantity, 0) AS a, COALESCE(100 // NULLIF(quantity, 0), -1) AS b, COALESCE(100 // NULLIF(quantity, 0), 0) AS c, quantity AS d,
  COALESCE(100 // NULLIF(quantity, 0) > 9, false) AS e, COALESCE(100 // NULLIF(quantity, 0) > 9, true) AS f, 100 // NULLIF(quantity, 0) AS g, 1 AS h, 0 AS i
FROM events WHERE COALESCE(100 // NULLIF(quantity, 0) < 60, true);

-- query: clauses_that_guard
SELECT kind, 1000 / (COUNT(*) - 11) AS share FROM (SELECT kind, 100 / quantity AS part, quantity FROM events WHERE quantity <> 0) AS parts
WHERE quantity > 1 AND 100 / (quantity - 1) < 90 GROUP BY kind, quantity, 100 / (quantity - 1) HAVING COUNT(*) > 11;
-- duckdb:
SELECT kind, 1000 // NULLIF(COUNT(*) - 11, 0) AS share FROM events
WHERE quantity > 1 AND 100 // NULLIF(quantity - 1, 0) < 90 GROUP BY kind, quantity HAVING COUNT(*) > 11;
