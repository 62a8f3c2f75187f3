-- query: word_count
SELECT word, COUNT(*) AS n FROM words GROUP BY word;

-- query: all_five_aggregates
SELECT kind, COUNT(amount) AS n, SUM(amount) AS total, MIN(amount) AS low, MAX(amount) AS high, AVG(amount) AS mean FROM events GROUP BY kind;

-- query: skewed_key
SELECT user_id, COUNT(*) AS n, SUM(quantity) AS total, MAX(id) AS latest FROM events GROUP BY user_id;

-- query: two_keys_with_nulls
SELECT user_id, kind, COUNT(*) AS n, SUM(amount) AS total FROM events GROUP BY user_id, kind;

-- query: grouped_by_expression
SELECT quantity % 4 AS bucket, UPPER(kind) AS big, COUNT(*) AS n FROM events GROUP BY quantity % 4, UPPER(kind);

-- query: grouped_by_alias_of_subquery
SELECT bucket, SUM(amount) AS total FROM (SELECT id % 9 AS bucket, amount FROM events) AS buckets GROUP BY bucket;

-- query: global_aggregate
SELECT COUNT(*) AS n, COUNT(user_id) AS users, SUM(quantity) AS total, MIN(ts) AS first_time, MAX(kind) AS last_kind FROM events;

-- query: decimal_sums
SELECT kind, SUM(price) AS total, MIN(price) AS low, MAX(price) AS high FROM events GROUP BY kind;

-- query: decimal_average
SELECT kind, AVG(price) AS mean FROM events GROUP BY kind;
-- duckdb:
SELECT kind, CAST(rounded((SUM(price) * 100)::HUGEINT, 100 * COUNT(price), 6) AS DECIMAL(14, 6)) AS mean FROM events GROUP BY kind;

-- query: integer_average
SELECT kind, AVG(quantity) AS mean, AVG(id) AS middle FROM events GROUP BY kind;

-- query: count_distinct
SELECT kind, COUNT(DISTINCT user_id) AS users, COUNT(DISTINCT quantity) AS quantities FROM events GROUP BY kind;

-- query: sum_and_average_distinct
SELECT flag, SUM(DISTINCT quantity) AS total, AVG(DISTINCT quantity) AS mean, MIN(DISTINCT quantity) AS low FROM events GROUP BY flag;

-- query: filtered_aggregates
SELECT user_id, COUNT(*) FILTER (WHERE kind = 'buy') AS buys, SUM(amount) FILTER (WHERE flag) AS flagged, MAX(quantity) FILTER (WHERE amount < 0) AS most
FROM events GROUP BY user_id;

-- query: distinct_with_filter
SELECT kind, COUNT(DISTINCT user_id) FILTER (WHERE quantity > 10) AS users FROM events GROUP BY kind;

-- query: distinct_by_several_filters
SELECT kind, COUNT(DISTINCT user_id) FILTER (WHERE quantity > 10) AS a, COUNT(DISTINCT user_id) AS b, COUNT(DISTINCT user_id) FILTER (WHERE flag) AS c,
  SUM(DISTINCT quantity) FILTER (WHERE flag) AS d, COUNT(DISTINCT quantity) FILTER (WHERE user_id = 1) AS e, COUNT(*) FILTER (WHERE flag) AS f,
  SUM(DISTINCT quantity) AS g, MIN(quantity) FILTER (WHERE flag) AS h, COUNT(DISTINCT price) FILTER (WHERE amount > 100000) AS none
FROM events GROUP BY kind;

-- query: having_on_count
SELECT user_id, COUNT(*) AS n FROM events GROUP BY user_id HAVING COUNT(*) > 12;

-- query: having_on_another_aggregate
SELECT kind, SUM(amount) AS total FROM events GROUP BY kind HAVING MAX(quantity) >= 20 AND AVG(amount) IS NOT NULL;

-- query: aggregate_inside_expression
SELECT kind, SUM(amount) / COUNT(amount) AS mean, COUNT(*) * 2 + 1 AS odd, COALESCE(MAX(price), 0) AS high FROM events GROUP BY kind;

-- query: case_inside_aggregate
SELECT user_id, SUM(CASE WHEN kind = 'buy' THEN quantity ELSE 0 END) AS bought, COUNT(CASE WHEN flag THEN 1 END) AS flags FROM events GROUP BY user_id;

-- query: grouped_by_row_field
SELECT address.city AS city, COUNT(*) AS n, SUM(total) AS total FROM orders GROUP BY address.city;

-- query: grouped_by_date
SELECT ordered, customer, COUNT(*) AS n, SUM(pennies) AS pennies FROM orders GROUP BY ordered, customer;

-- query: select_distinct
SELECT DISTINCT kind, flag FROM events;

-- query: keys_without_aggregates
SELECT kind FROM events GROUP BY kind;

-- query: every_row_its_own_key
SELECT id, COUNT(*) AS n, SUM(amount) AS total FROM events GROUP BY id;

-- query: distinct_conditions
SELECT kind, COUNT_IF(DISTINCT amount > 0) AS any_positive, BOOL_AND(DISTINCT flag) AS all_set FROM events GROUP BY kind;
-- duckdb:
SELECT kind, COUNT(DISTINCT CASE WHEN amount > 0 THEN 1 END) AS any_positive, BOOL_AND(flag) AS all_set FROM events GROUP BY kind;

-- query: every_aggregate
SELECT kind, COUNT(*) AS n, COUNT(amount) AS amounts, SUM(price) AS total, AVG(quantity) AS mean, MIN(ts) AS first_time, MAX(flag) AS high,
  BOOL_AND(flag) AS every_flag, BOOL_OR(flag) AS any_flag, COUNT_IF(flag) AS flags
FROM events GROUP BY kind;

-- query: every_aggregate_filtered
SELECT kind, COUNT(amount) FILTER (WHERE flag) AS amounts, SUM(price) FILTER (WHERE flag) AS total, AVG(quantity) FILTER (WHERE flag) AS mean,
  MIN(ts) FILTER (WHERE flag) AS first_time, MAX(user_id) FILTER (WHERE quantity > 99) AS nobody, BOOL_AND(flag) FILTER (WHERE quantity > 10) AS every_flag,
  BOOL_OR(flag) FILTER (WHERE quantity > 99) AS any_flag, COUNT_IF(flag) FILTER (WHERE quantity > 99) AS flags
FROM events GROUP BY kind;
-- duckdb:
SELECT kind, COUNT(amount) FILTER (WHERE flag) AS amounts, SUM(price) FILTER (WHERE flag) AS total, AVG(quantity) FILTER (WHERE flag) AS mean,
  MIN(ts) FILTER (WHERE flag) AS first_time, MAX(user_id) FILTER (WHERE quantity > 99) AS nobody, BOOL_AND(flag) FILTER (WHERE quantity > 10) AS every_flag,
  BOOL_OR(flag) FILTER (WHERE quantity > 99) AS any_flag, COUNT(CASE WHEN flag THEN 1 END) FILTER (WHERE quantity > 99) AS flags
FROM events GROUP BY kind;

-- query: every_aggregate_distinct
SELECT flag, COUNT(DISTINCT price) AS n, SUM(DISTINCT price) AS total, AVG(DISTINCT quantity) AS mean, MIN(DISTINCT kind) AS low, MAX(DISTINCT kind) AS high,
  BOOL_AND(DISTINCT quantity > 3) AS every_one, BOOL_OR(DISTINCT quantity > 3) AS any_one, COUNT_IF(DISTINCT quantity > 3) AS few
FROM events GROUP BY flag;
-- duckdb:
SELECT flag, COUNT(DISTINCT price) AS n, SUM(DISTINCT price) AS total, AVG(DISTINCT quantity) AS mean, MIN(DISTINCT kind) AS low, MAX(DISTINCT kind) AS high,
  BOOL_AND(quantity > 3) AS every_one, BOOL_OR(quantity > 3) AS any_one, COUNT(DISTINCT CASE WHEN quantity > 3 THEN 1 END) AS few
FROM events GROUP BY flag;

-- query: having_alone
SELECT 'all' AS which FROM events HAVING TRUE;

-- query: group_by_nothing
SELECT COUNT(*) AS n, 'none' AS which FROM nothing GROUP BY ();
-- duckdb:
SELECT 0 AS n, 'none' AS which;

-- query: nothing_and_rollup
SELECT kind, COUNT(*) AS n FROM events GROUP BY (), ROLLUP (kind);
-- duckdb:
SELECT kind, COUNT(*) AS n FROM events GROUP BY ROLLUP (kind);

-- query: group_by_a_key_and_nothing
SELECT kind, COUNT(*) AS n FROM events GROUP BY kind, ();
-- duckdb:
SELECT kind, COUNT(*) AS n FROM events GROUP BY kind;
