-- query: over_ranks
SELECT id, kind, quantity,
  ROW_NUMBER() OVER w AS number, RANK() OVER w AS rank, DENSE_RANK() OVER w AS dense,
  PERCENT_RANK() OVER w AS percent, CUME_DIST() OVER w AS share, NTILE(7) OVER w AS bucket
FROM events WINDOW w AS (PARTITION BY kind ORDER BY quantity DESC NULLS LAST);
-- duckdb:
SELECT id, kind, quantity,
  ROW_NUMBER() OVER t AS number, RANK() OVER w AS rank, DENSE_RANK() OVER w AS dense,
  PERCENT_RANK() OVER w AS percent, CUME_DIST() OVER w AS share, NTILE(7) OVER t AS bucket
FROM events WINDOW w AS (PARTITION BY kind ORDER BY quantity DESC NULLS LAST), t AS (PARTITION BY kind ORDER BY quantity DESC NULLS LAST, id);

-- query: over_values_that_are_not_null
SELECT id, LAST_VALUE(price) RESPECT NULLS OVER (PARTITION BY kind ORDER BY id) AS own, MAX_BY(price, id) FILTER (WHERE price IS NOT NULL) OVER (PARTITION BY kind ORDER BY id) AS known,
  MAX_BY(price, id) FILTER (WHERE price IS NOT NULL) OVER (PARTITION BY kind ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before,
  MIN_BY(price, id) FILTER (WHERE price IS NOT NULL) OVER (PARTITION BY kind ORDER BY id ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS behind
FROM events;
-- duckdb:
SELECT id, LAST_VALUE(price) OVER (PARTITION BY kind ORDER BY id) AS own, LAST_VALUE(price IGNORE NULLS) OVER (PARTITION BY kind ORDER BY id) AS known,
  LAG(price IGNORE NULLS) OVER (PARTITION BY kind ORDER BY id) AS before, LEAD(price IGNORE NULLS) OVER (PARTITION BY kind ORDER BY id) AS behind
FROM events;

-- query: over_values
SELECT id, LAG(amount) OVER (PARTITION BY user_id ORDER BY quantity NULLS LAST) AS a, LEAD(kind, 2, 'none') OVER (ORDER BY amount DESC) AS b,
  FIRST_VALUE(price) OVER (PARTITION BY kind ORDER BY price NULLS FIRST ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING) AS c,
  LAST_VALUE(id) OVER (PARTITION BY kind ORDER BY quantity) AS d, NTH_VALUE(id, 3) OVER (PARTITION BY kind ORDER BY quantity DESC) AS e,
  LAG(quantity, 0, CAST(id AS INT)) OVER (ORDER BY id) + 1 AS f, LEAD(quantity, 3, CAST(id AS INT)) OVER (PARTITION BY kind ORDER BY id DESC) AS g
FROM events;
-- duckdb:
SELECT id, LAG(amount) OVER (PARTITION BY user_id ORDER BY quantity NULLS LAST, id) AS a,
  LEAD(kind, 2, 'none') OVER (ORDER BY amount DESC NULLS LAST, id) AS b,
  FIRST_VALUE(price) OVER (PARTITION BY kind ORDER BY price NULLS FIRST, id ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING) AS c,
  MAX(id) OVER (PARTITION BY kind, quantity) AS d,
  CASE WHEN COUNT(*) OVER (PARTITION BY kind ORDER BY quantity DESC) >= 3 THEN NTH_VALUE(id, 3) OVER (
    PARTITION BY kind ORDER BY quantity DESC, id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) END AS e,
  LAG(quantity, 0) OVER (ORDER BY id) + 1 AS f, LEAD(quantity, 3, CAST(id AS INT)) OVER (PARTITION BY kind ORDER BY id DESC) AS g
FROM events;

-- query: over_frames
SELECT id, SUM(quantity) OVER (PARTITION BY kind ORDER BY id ROWS BETWEEN 4 PRECEDING AND 2 FOLLOWING) AS a,
  AVG(amount) OVER (PARTITION BY kind ORDER BY id DESC ROWS 7 PRECEDING) AS b,
  COUNT(amount) OVER (ORDER BY quantity NULLS FIRST RANGE BETWEEN 2 PRECEDING AND 1 FOLLOWING) AS c,
  MAX(price) OVER (PARTITION BY flag ORDER BY quantity DESC NULLS LAST RANGE BETWEEN UNBOUNDED PRECEDING AND 3 PRECEDING) AS d,
  MIN(kind) OVER (ORDER BY quantity NULLS FIRST GROUPS BETWEEN 2 PRECEDING AND 1 PRECEDING) AS e,
  SUM(amount) FILTER (WHERE flag) OVER (PARTITION BY user_id) AS f, COUNT(*) OVER () AS g,
  SUM(price) OVER (ORDER BY ordered NULLS FIRST RANGE BETWEEN INTERVAL '2' DAY PRECEDING AND INTERVAL '1' DAY PRECEDING) AS h,
  COUNT_IF(flag) OVER (PARTITION BY kind ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS i
FROM (SELECT *, CAST(CASE WHEN flag THEN ts END AS DATE) AS ordered FROM events) AS e;

-- query: over_what_changes
SELECT kind, n, SUM(n) OVER (ORDER BY n DESC, kind) AS running, RANK() OVER (ORDER BY n) AS place, total - AVG(total) OVER () AS above
FROM (SELECT kind, COUNT(*) AS n, SUM(quantity) AS total FROM events GROUP BY kind) AS k;
-- duckdb:
SELECT kind, n, SUM(n) OVER (ORDER BY n DESC, kind NULLS FIRST) AS running, RANK() OVER (ORDER BY n) AS place, total - AVG(total) OVER () AS above
FROM (SELECT kind, COUNT(*) AS n, SUM(quantity) AS total FROM events GROUP BY kind) AS k;

-- query: over_groups
SELECT kind, quantity % 3 AS part, COUNT(*) AS n, SUM(COUNT(*)) OVER (PARTITION BY kind) AS of_kind,
  RANK() OVER (PARTITION BY quantity % 3 ORDER BY SUM(amount) DESC NULLS LAST) AS place
FROM events GROUP BY kind, quantity % 3 HAVING COUNT(*) > 3 QUALIFY place <= 2;
-- duckdb:
SELECT kind, quantity % 3 AS part, COUNT(*) AS n, SUM(COUNT(*)) OVER (PARTITION BY kind) AS of_kind,
  RANK() OVER (PARTITION BY quantity % 3 ORDER BY SUM(amount) DESC NULLS LAST) AS place
FROM events GROUP BY kind, quantity % 3 HAVING COUNT(*) > 3 QUALIFY place <= 2;

-- query: over_duplicates
SELECT word, n, ROW_NUMBER() OVER (PARTITION BY word ORDER BY n DESC) AS a, LAG(n) OVER (PARTITION BY word ORDER BY n) AS b,
  SUM(n) OVER (ORDER BY n ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS c
FROM words;
-- duckdb:
SELECT *, SUM(n) OVER (ORDER BY n, word, a, b ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS c
FROM (SELECT *, LAG(n) OVER (PARTITION BY word ORDER BY n, a) AS b
  FROM (SELECT word, n, ROW_NUMBER() OVER (PARTITION BY word ORDER BY n DESC) AS a FROM words));

-- query: over_time
SELECT id, ts, SUM(quantity) OVER (PARTITION BY kind ORDER BY ts) AS a, COUNT(*) OVER (PARTITION BY kind ORDER BY ts ROWS 3 PRECEDING) AS b,
  MAX(price) OVER (PARTITION BY kind ORDER BY ts RANGE INTERVAL '1' MINUTE PRECEDING) AS c, LAG(id) OVER (PARTITION BY kind ORDER BY ts) AS d,
  ROW_NUMBER() OVER (PARTITION BY kind ORDER BY ts) AS e, RANK() OVER (PARTITION BY kind ORDER BY ts) AS f,
  DENSE_RANK() OVER (PARTITION BY kind ORDER BY ts) AS g, FIRST_VALUE(id) OVER (PARTITION BY kind ORDER BY ts) AS h,
  MIN(kind) OVER (ORDER BY ts) AS i, NTH_VALUE(id, 2) OVER (PARTITION BY user_id ORDER BY ts ROWS UNBOUNDED PRECEDING) AS j
FROM events;
-- duckdb:
SELECT id, ts, SUM(quantity) OVER (PARTITION BY kind ORDER BY ts) AS a, COUNT(*) OVER (PARTITION BY kind ORDER BY ts, id ROWS 3 PRECEDING) AS b,
  MAX(price) OVER (PARTITION BY kind ORDER BY ts RANGE INTERVAL '1' MINUTE PRECEDING) AS c, LAG(id) OVER (PARTITION BY kind ORDER BY ts, id) AS d,
  ROW_NUMBER() OVER (PARTITION BY kind ORDER BY ts, id) AS e, RANK() OVER (PARTITION BY kind ORDER BY ts) AS f,
  DENSE_RANK() OVER (PARTITION BY kind ORDER BY ts) AS g, FIRST_VALUE(id) OVER (PARTITION BY kind ORDER BY ts, id) AS h,
  MIN(kind) OVER (ORDER BY ts) AS i, NTH_VALUE(id, 2) OVER (PARTITION BY user_id ORDER BY ts, id ROWS UNBOUNDED PRECEDING) AS j
FROM events;

-- query: over_windows_that_close
SELECT window_start, window_end, kind, n, RANK() OVER (PARTITION BY window_start, window_end ORDER BY n DESC) AS place,
  SUM(n) OVER (PARTITION BY window_end) AS of_window
FROM (SELECT window_start, window_end, kind, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '5' MINUTES))
  GROUP BY window_start, window_end, kind) AS k
QUALIFY place <= 3;
-- duckdb:
SELECT window_start, window_start + INTERVAL 5 MINUTE AS window_end, kind, n, RANK() OVER (PARTITION BY window_start ORDER BY n DESC) AS place,
  SUM(n) OVER (PARTITION BY window_start) AS of_window
FROM (SELECT time_bucket(INTERVAL 5 MINUTE, ts, TIMESTAMP '1970-01-01') AS window_start, kind, COUNT(*) AS n FROM events GROUP BY ALL) AS k
QUALIFY place <= 3;

-- query: over_time_as_changes
SELECT id, SUM(quantity) OVER (PARTITION BY kind ORDER BY ts) AS a FROM events EMIT CHANGES;
-- duckdb:
SELECT id, SUM(quantity) OVER (PARTITION BY kind ORDER BY ts) AS a FROM events;

-- query: over_ranges_beyond_the_ends_of_bigint
SELECT id, b, COUNT(*) OVER (ORDER BY b RANGE BETWEEN 9 PRECEDING AND CURRENT ROW) AS c,
  COUNT(*) OVER (ORDER BY b DESC RANGE BETWEEN 9 PRECEDING AND CURRENT ROW) AS d,
  COUNT(*) OVER (ORDER BY b RANGE BETWEEN CURRENT ROW AND 9 FOLLOWING) AS e,
  COUNT(*) OVER (ORDER BY b DESC RANGE BETWEEN CURRENT ROW AND 9223372036854775806 FOLLOWING) AS f
FROM (SELECT id, CASE WHEN id % 2 = 0 THEN 9223372036854775807 - id % 40 ELSE -9223372036854775807 + (id % 40 - 2) END AS b FROM events);
-- duckdb:
SELECT id, b, COUNT(*) OVER (ORDER BY h RANGE BETWEEN 9 PRECEDING AND CURRENT ROW) AS c,
  COUNT(*) OVER (ORDER BY h DESC RANGE BETWEEN 9 PRECEDING AND CURRENT ROW) AS d,
  COUNT(*) OVER (ORDER BY h RANGE BETWEEN CURRENT ROW AND 9 FOLLOWING) AS e,
  COUNT(*) OVER (ORDER BY h DESC RANGE BETWEEN CURRENT ROW AND 9223372036854775806 FOLLOWING) AS f
FROM (SELECT id, b, CAST(b AS HUGEINT) AS h FROM (
  SELECT id, CASE WHEN id % 2 = 0 THEN 9223372036854775807 - id % 40 ELSE -9223372036854775807 + (id % 40 - 2) END AS b FROM events));

-- query: over_ties_that_nobody_sees
SELECT kind, quantity, LAG(quantity) OVER (PARTITION BY kind ORDER BY user_id) AS a,
  SUM(quantity) OVER (PARTITION BY kind ORDER BY user_id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS b,
  COUNT(*) OVER (PARTITION BY kind ORDER BY user_id RANGE BETWEEN 2 PRECEDING AND CURRENT ROW) AS c,
  MAX(quantity) OVER (PARTITION BY kind ORDER BY user_id) AS d, COUNT(*) OVER (PARTITION BY kind) AS e
FROM (SELECT kind, quantity, user_id, amount, ts FROM events) AS e;
-- duckdb:
SELECT kind, quantity, LAG(quantity) OVER (PARTITION BY kind ORDER BY user_id NULLS FIRST, quantity NULLS FIRST) AS a,
  SUM(quantity) OVER (PARTITION BY kind ORDER BY user_id NULLS FIRST, quantity NULLS FIRST ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS b,
  COUNT(*) OVER (PARTITION BY kind ORDER BY user_id NULLS FIRST RANGE BETWEEN 2 PRECEDING AND CURRENT ROW) AS c,
  MAX(quantity) OVER (PARTITION BY kind ORDER BY user_id NULLS FIRST) AS d, COUNT(*) OVER (PARTITION BY kind) AS e
FROM events;

-- query: windows_that_add_to_a_window
SELECT id, SUM(quantity) OVER (w ORDER BY id) AS so_far, MAX(id) OVER (v ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING) AS before, COUNT(*) OVER w AS n
FROM events WINDOW w AS (PARTITION BY kind), v AS (PARTITION BY user_id ORDER BY id);
-- duckdb:
SELECT id, SUM(quantity) OVER (PARTITION BY kind ORDER BY id) AS so_far,
  MAX(id) OVER (PARTITION BY user_id ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING) AS before, COUNT(*) OVER (PARTITION BY kind) AS n FROM events;

-- query: over_arg_min
SELECT id, MIN_BY(kind, quantity) OVER near AS least, ARG_MAX(kind, quantity) FILTER (WHERE flag) OVER (PARTITION BY user_id) AS most,
  MAX_BY(id, kind) OVER (PARTITION BY user_id ORDER BY quantity) AS last
FROM events WINDOW near AS (PARTITION BY user_id ORDER BY id ROWS BETWEEN 3 PRECEDING AND 1 FOLLOWING);
-- duckdb:
WITH known AS (
  SELECT *, CASE WHEN quantity IS NOT NULL THEN struct_pack(a := quantity, b := coalesce('v' || kind, '')) END AS pair,
    CASE WHEN kind IS NOT NULL THEN struct_pack(a := kind, b := id) END AS other
  FROM events
)
SELECT id, nullif((min(pair) OVER near).b, '')[2:] AS least, nullif((max(CASE WHEN flag THEN pair END) OVER (PARTITION BY user_id)).b, '')[2:] AS most,
  (max(other) OVER (PARTITION BY user_id ORDER BY quantity ASC NULLS FIRST)).b AS last
FROM known WINDOW near AS (PARTITION BY user_id ORDER BY id ROWS BETWEEN 3 PRECEDING AND 1 FOLLOWING);

-- query: over_frames_of_no_row
SELECT id, COUNT(*) OVER w AS n, SUM(quantity) OVER w AS total, FIRST_VALUE(id) OVER w AS first, LAST_VALUE(id) OVER w AS last, NTH_VALUE(id, 1 + 1) OVER w AS second,
  COUNT(amount) OVER (ORDER BY id ROWS BETWEEN 700 FOLLOWING AND 702 FOLLOWING) AS ahead,
  MIN(id) OVER (PARTITION BY kind ORDER BY quantity NULLS LAST RANGE BETWEEN 8 PRECEDING AND 7 PRECEDING) AS less,
  COUNT(*) OVER (PARTITION BY kind ORDER BY quantity NULLS LAST GROUPS BETWEEN 12 FOLLOWING AND 13 FOLLOWING) AS groups
FROM events WINDOW w AS (PARTITION BY kind ORDER BY id ROWS BETWEEN 5 PRECEDING AND 3 PRECEDING);
-- duckdb:
SELECT id, COUNT(*) OVER w AS n, SUM(quantity) OVER w AS total, FIRST_VALUE(id) OVER w AS first, LAST_VALUE(id) OVER w AS last, NTH_VALUE(id, 2) OVER w AS second,
  COUNT(amount) OVER (ORDER BY id ROWS BETWEEN 700 FOLLOWING AND 702 FOLLOWING) AS ahead,
  MIN(id) OVER (PARTITION BY kind ORDER BY quantity NULLS LAST RANGE BETWEEN 8 PRECEDING AND 7 PRECEDING) AS less,
  COUNT(*) OVER (PARTITION BY kind ORDER BY quantity NULLS LAST GROUPS BETWEEN 12 FOLLOWING AND 13 FOLLOWING) AS groups
FROM events WINDOW w AS (PARTITION BY kind ORDER BY id ROWS BETWEEN 5 PRECEDING AND 3 PRECEDING);

-- query: over_frames_of_no_row_in_time
SELECT id, COUNT(*) OVER w AS n, MAX(quantity) OVER w AS most, SUM(amount) OVER (PARTITION BY kind ORDER BY ts RANGE BETWEEN INTERVAL '9' MINUTE PRECEDING AND INTERVAL '8' MINUTE PRECEDING) AS before
FROM events WINDOW w AS (PARTITION BY kind ORDER BY ts ROWS BETWEEN 40 PRECEDING AND 30 PRECEDING);
-- duckdb:
SELECT id, COUNT(*) OVER w AS n, MAX(quantity) OVER w AS most, SUM(amount) OVER (PARTITION BY kind ORDER BY ts RANGE BETWEEN INTERVAL '9' MINUTE PRECEDING AND INTERVAL '8' MINUTE PRECEDING) AS before
FROM events WINDOW w AS (PARTITION BY kind ORDER BY ts, id ROWS BETWEEN 40 PRECEDING AND 30 PRECEDING);

-- query: over_shifts_by_expressions
SELECT id, LAG(amount, 1 + 1) OVER w AS a, LEAD(kind, 2 * 3 - 1, 'none') OVER w AS b, LAG(id, -1) OVER w AS c, LEAD(id, -(1 + 2)) OVER w AS d, NTILE(2 + 3) OVER w AS e
FROM events WINDOW w AS (PARTITION BY user_id ORDER BY id);
-- duckdb:
SELECT id, LAG(amount, 2) OVER w AS a, LEAD(kind, 5, 'none') OVER w AS b, LEAD(id, 1) OVER w AS c, LAG(id, 3) OVER w AS d, NTILE(5) OVER w AS e
FROM events WINDOW w AS (PARTITION BY user_id ORDER BY id);
