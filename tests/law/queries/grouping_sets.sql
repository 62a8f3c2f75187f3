-- query: grouping_sets
SELECT kind, flag, GROUPING(kind) AS g, GROUPING_ID(kind, flag) AS both, COUNT(*) AS n, SUM(quantity) AS total, COUNT(kind) AS kinds
FROM events GROUP BY GROUPING SETS ((kind, flag), kind, (), (kind));
-- duckdb:
SELECT kind, flag, GROUPING(kind) AS g, GROUPING(kind, flag) AS both, COUNT(*) AS n, SUM(quantity) AS total, COUNT(kind) AS kinds
FROM events GROUP BY GROUPING SETS ((kind, flag), kind, (), (kind));

-- query: cube_of_a_key_that_is_null
SELECT UPPER(kind) AS k, quantity / 5 AS q, flag, COUNT(DISTINCT user_id) AS users, MAX(amount) FILTER (WHERE flag) AS most
FROM events WHERE id < 700 GROUP BY CUBE (k, quantity / 5), flag HAVING COUNT(*) > 3;
-- duckdb:
SELECT UPPER(kind) AS k, quantity // 5 AS q, flag, COUNT(DISTINCT user_id) AS users, MAX(amount) FILTER (WHERE flag) AS most
FROM events WHERE id < 700 GROUP BY CUBE (UPPER(kind), quantity // 5), flag HAVING COUNT(*) > 3;

-- query: rollup_of_windows
SELECT window_start, window_end, kind, quantity, COUNT(*) AS n, GROUPING(quantity) AS g
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' MINUTES)) GROUP BY window_start, window_end, ROLLUP (kind, quantity);
-- duckdb:
SELECT tumble(ts, INTERVAL 10 MINUTE) AS window_start, tumble(ts, INTERVAL 10 MINUTE) + INTERVAL 10 MINUTE AS window_end, kind, quantity, COUNT(*) AS n,
  GROUPING(quantity) AS g
FROM events GROUP BY 1, 2, ROLLUP (kind, quantity);

-- query: rollup_of_what_changes
SELECT n, m, COUNT(*) AS times FROM (SELECT quantity, COUNT(*) AS n, MOD(COUNT(*), 3) AS m FROM events GROUP BY quantity) AS a GROUP BY ROLLUP (m, n);
