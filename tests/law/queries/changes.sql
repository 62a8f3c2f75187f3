-- query: emit_changes
SELECT kind, COUNT(*) AS n, SUM(amount) AS total FROM events GROUP BY kind EMIT CHANGES;
-- duckdb:
SELECT kind, COUNT(*) AS n, SUM(amount) AS total FROM events GROUP BY kind;

-- query: emit_after_delay
SELECT user_id, COUNT(*) AS n, MAX(amount) AS high FROM events GROUP BY user_id EMIT AFTER DELAY INTERVAL '1' SECOND;
-- duckdb:
SELECT user_id, COUNT(*) AS n, MAX(amount) AS high FROM events GROUP BY user_id;

-- query: emit_after_watermark
SELECT window_start, kind, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '5' MINUTES)) GROUP BY window_start, window_end, kind EMIT AFTER WATERMARK;
-- duckdb:
SELECT tumble(ts, INTERVAL 5 MINUTE) AS window_start, kind, COUNT(*) AS n FROM events GROUP BY 1, 2;

-- query: emit_stream_after_watermark
SELECT window_start, SUM(quantity) AS total
FROM TABLE(HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES)) GROUP BY window_start, window_end
EMIT STREAM AFTER WATERMARK;
-- duckdb:
SELECT window_start, SUM(quantity) AS total
FROM (SELECT *, unnest(hops(ts, INTERVAL 5 MINUTE, INTERVAL 10 MINUTE)) AS window_start FROM events) GROUP BY 1;

-- query: window_emit_changes
SELECT window_start, kind, COUNT(*) AS n, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '5' MINUTES)) GROUP BY window_start, window_end, kind EMIT CHANGES;
-- duckdb:
SELECT tumble(ts, INTERVAL 5 MINUTE) AS window_start, kind, COUNT(*) AS n, SUM(price) AS total FROM events GROUP BY 1, 2;

-- query: window_emit_after_delay
SELECT window_end, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '5' MINUTES)) GROUP BY window_start, window_end EMIT AFTER DELAY INTERVAL '100' MILLISECOND;
-- duckdb:
SELECT tumble(ts, INTERVAL 5 MINUTE) + INTERVAL 5 MINUTE AS window_end, COUNT(*) AS n FROM events GROUP BY 1;

-- query: count_of_counts
SELECT n, COUNT(*) AS users FROM (SELECT user_id, COUNT(*) AS n FROM events GROUP BY user_id) AS counts GROUP BY n EMIT CHANGES;
-- duckdb:
SELECT n, COUNT(*) AS users FROM (SELECT user_id, COUNT(*) AS n FROM events GROUP BY user_id) GROUP BY n;

-- query: extremes_of_retracted_sums
SELECT MAX(total) AS most, MIN(total) AS least, COUNT(*) AS users FROM (SELECT user_id, SUM(quantity) AS total FROM events GROUP BY user_id) AS sums;

-- query: sums_of_retracted_extremes
SELECT high % 3 AS rest, SUM(low) AS lows, AVG(high) AS highs
FROM (SELECT user_id, MIN(id) AS low, MAX(id) AS high FROM events GROUP BY user_id) AS ends GROUP BY high % 3;

-- query: distinct_over_retractions
SELECT COUNT(DISTINCT n) AS sizes, SUM(DISTINCT n) AS total FROM (SELECT user_id, kind, COUNT(*) AS n FROM events GROUP BY user_id, kind) AS counts;

-- query: filter_over_retractions
SELECT user_id, n FROM (SELECT user_id, COUNT(*) AS n FROM events GROUP BY user_id) AS counts WHERE n BETWEEN 5 AND 12;

-- query: projection_over_retractions
SELECT n / 10 AS tens, UPPER(kind) AS big FROM (SELECT kind, COUNT(*) AS n FROM events GROUP BY kind) AS counts EMIT CHANGES;
-- duckdb:
SELECT n // 10 AS tens, upper(kind) AS big FROM (SELECT kind, COUNT(*) AS n FROM events GROUP BY kind);

-- query: having_comes_and_goes
SELECT kind, COUNT(*) AS n FROM events GROUP BY kind HAVING COUNT(*) % 2 = 0 EMIT CHANGES;
-- duckdb:
SELECT kind, COUNT(*) AS n FROM events GROUP BY kind HAVING COUNT(*) % 2 = 0;

-- query: three_levels
SELECT MAX(users) AS widest FROM (
  SELECT n, COUNT(*) AS users FROM (SELECT user_id, COUNT(*) AS n FROM events GROUP BY user_id) AS counts GROUP BY n) AS sizes;

-- query: distinct_by_several_filters_of_changes
SELECT kind, COUNT(DISTINCT n) AS a, COUNT(DISTINCT n) FILTER (WHERE user_id > 20) AS b, SUM(DISTINCT n) FILTER (WHERE n % 2 = 0) AS c,
  COUNT(DISTINCT last) FILTER (WHERE n > 3) AS d, COUNT(DISTINCT last) AS e, AVG(DISTINCT n) AS f, COUNT(*) FILTER (WHERE n % 2 = 0) AS g
FROM (SELECT kind, user_id, COUNT(*) AS n, MAX(quantity) AS last FROM events GROUP BY kind, user_id) AS counts GROUP BY kind EMIT CHANGES;
-- duckdb:
SELECT kind, COUNT(DISTINCT n) AS a, COUNT(DISTINCT n) FILTER (WHERE user_id > 20) AS b, SUM(DISTINCT n) FILTER (WHERE n % 2 = 0)::BIGINT AS c,
  COUNT(DISTINCT last) FILTER (WHERE n > 3) AS d, COUNT(DISTINCT last) AS e, AVG(DISTINCT n) AS f, COUNT(*) FILTER (WHERE n % 2 = 0) AS g
FROM (SELECT kind, user_id, COUNT(*) AS n, MAX(quantity) AS last FROM events GROUP BY kind, user_id) AS counts GROUP BY kind;

-- query: every_aggregate_of_changes
SELECT n % 5 AS bucket, COUNT(*) AS users, COUNT(total) AS totals, SUM(total) AS total, AVG(n) AS mean, MIN(total) AS low, MAX(last_kind) AS high,
  BOOL_AND(n > 20) AS every_one, BOOL_OR(n > 20) AS any_one, COUNT_IF(n > 20) AS many,
  COUNT(DISTINCT last_kind) AS kinds, SUM(DISTINCT n) AS once, AVG(DISTINCT n) AS once_mean, COUNT_IF(DISTINCT n > 20) AS some,
  COUNT(total) FILTER (WHERE n > 20) AS f1, SUM(total) FILTER (WHERE n > 20) AS f2, AVG(n) FILTER (WHERE n > 20) AS f3,
  MIN(total) FILTER (WHERE n > 20) AS f4, MAX(total) FILTER (WHERE n > 20) AS f5, BOOL_AND(total > 9) FILTER (WHERE n > 20) AS f6,
  BOOL_OR(total > 9) FILTER (WHERE n > 20) AS f7, COUNT_IF(total > 9) FILTER (WHERE n > 20) AS f8
FROM (SELECT user_id, COUNT(*) AS n, SUM(price) AS total, MAX(kind) AS last_kind FROM events GROUP BY user_id) AS counts GROUP BY n % 5 EMIT CHANGES;
-- duckdb:
SELECT n % 5 AS bucket, COUNT(*) AS users, COUNT(total) AS totals, SUM(total) AS total, AVG(n) AS mean, MIN(total) AS low, MAX(last_kind) AS high,
  BOOL_AND(n > 20) AS every_one, BOOL_OR(n > 20) AS any_one, COUNT_IF(n > 20) AS many,
  COUNT(DISTINCT last_kind) AS kinds, SUM(DISTINCT n) AS once, AVG(DISTINCT n) AS once_mean, COUNT(DISTINCT CASE WHEN n > 20 THEN 1 END) AS some,
  COUNT(total) FILTER (WHERE n > 20) AS f1, SUM(total) FILTER (WHERE n > 20) AS f2, AVG(n) FILTER (WHERE n > 20) AS f3,
  MIN(total) FILTER (WHERE n > 20) AS f4, MAX(total) FILTER (WHERE n > 20) AS f5, BOOL_AND(total > 9) FILTER (WHERE n > 20) AS f6,
  BOOL_OR(total > 9) FILTER (WHERE n > 20) AS f7, COUNT(CASE WHEN total > 9 THEN 1 END) FILTER (WHERE n > 20) AS f8
FROM (SELECT user_id, COUNT(*) AS n, SUM(price) AS total, MAX(kind) AS last_kind FROM events GROUP BY user_id) GROUP BY 1;
