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

-- query: totals_of_nothing
SELECT kind, flag, GROUPING(kind, flag) AS g, COUNT(*) AS n, COUNT(kind) AS kinds, SUM(COALESCE(quantity, 1)) AS total, COUNT(DISTINCT user_id) AS users,
  MAX(amount) FILTER (WHERE flag) AS most
FROM nothing GROUP BY CUBE (kind, flag)
UNION ALL
SELECT kind, NULL, 9, COUNT(*), COUNT(DISTINCT kind), SUM(1), 0, AVG(amount) FROM events WHERE id < 0 GROUP BY ROLLUP (kind), GROUPING SETS ((), ());

-- query: totals_that_come_back_to_nothing
SELECT user_id, COUNT(*) AS n, SUM(quantity) AS total, MIN(quantity) AS least FROM (
  SELECT kind, MAX(user_id) AS user_id, MAX(quantity) AS quantity FROM events GROUP BY kind HAVING COUNT(*) < 3
) AS few GROUP BY ROLLUP (user_id);

-- query: totals_beside_windows
SELECT window_start, kind, COUNT(*) AS n, SUM(quantity) AS total
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '30' MINUTES)) GROUP BY GROUPING SETS ((window_start, window_end), (kind), ());
-- duckdb:
SELECT tumble(ts, INTERVAL 30 MINUTE) AS window_start, kind, COUNT(*) AS n, SUM(quantity) AS total
FROM (SELECT * FROM events WHERE ts IS NOT NULL) GROUP BY GROUPING SETS ((tumble(ts, INTERVAL 30 MINUTE)), (kind), ());

-- query: keys_in_parentheses
SELECT kind, flag, quantity / 5 AS fives, COUNT(*) AS n FROM events GROUP BY kind, (flag, ((quantity / 5)), ());
-- duckdb:
SELECT kind, flag, quantity // 5 AS fives, COUNT(*) AS n FROM events GROUP BY ALL;
