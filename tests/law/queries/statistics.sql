-- query: statistics
SELECT kind, VAR_POP(amount) AS a, VARIANCE(quantity) AS b, STDDEV_POP(price) AS c, STDDEV(DISTINCT quantity) AS d, STDDEV(price) AS u, VAR_POP(DISTINCT quantity) AS e,
  STDDEV_POP(DISTINCT quantity) AS f, VAR_SAMP(DISTINCT amount) AS g, BIT_AND(quantity) AS h, BIT_OR(id) AS i, BIT_XOR(id) AS j, BIT_XOR(DISTINCT user_id) AS k,
  VAR_POP(amount) FILTER (WHERE flag) AS l, VAR_SAMP(amount) FILTER (WHERE flag) AS m, STDDEV_POP(amount) FILTER (WHERE flag) AS n,
  STDDEV_SAMP(amount) FILTER (WHERE flag) AS o, BIT_AND(id) FILTER (WHERE flag) AS p, BIT_OR(quantity) FILTER (WHERE flag) AS q, BIT_XOR(id) FILTER (WHERE flag) AS r
FROM events GROUP BY kind;

-- query: statistics_of_windows
SELECT window_end, STDDEV(amount) AS a, BIT_XOR(id) AS b, VAR_POP(quantity) FILTER (WHERE id < 500) AS c
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '5' MINUTES)) GROUP BY window_start, window_end;
-- duckdb:
SELECT tumble(ts, INTERVAL 5 MINUTE) + INTERVAL 5 MINUTE AS window_end, STDDEV(amount) AS a, BIT_XOR(id) AS b, VAR_POP(quantity) FILTER (WHERE id < 500) AS c
FROM events GROUP BY 1;

-- query: statistics_of_what_changes
SELECT m, VAR_POP(n) AS a, VARIANCE(n) AS b, STDDEV_POP(n) AS c, STDDEV(DISTINCT n) AS d, VAR_POP(DISTINCT n) AS e, STDDEV_POP(DISTINCT n) AS f, STDDEV(n) AS u,
  VAR_SAMP(DISTINCT n) AS g, BIT_AND(n) AS h, BIT_OR(n) AS i, BIT_XOR(n) AS j, BIT_XOR(DISTINCT n) AS k,
  VAR_POP(n) FILTER (WHERE n > 9) AS l, VAR_SAMP(n) FILTER (WHERE n > 9) AS o, STDDEV_POP(n) FILTER (WHERE n > 9) AS p,
  STDDEV_SAMP(n) FILTER (WHERE n > 9) AS q, BIT_AND(n) FILTER (WHERE n > 9) AS r, BIT_OR(n) FILTER (WHERE n > 9) AS s, BIT_XOR(n) FILTER (WHERE n > 9) AS t
FROM (SELECT user_id, COUNT(*) AS n, MOD(user_id, 4) AS m FROM events GROUP BY user_id) AS a GROUP BY m;

-- query: gathered
SELECT kind, STRING_AGG(DISTINCT kind) AS a, LISTAGG(CAST(id AS VARCHAR), '; ') WITHIN GROUP (ORDER BY amount DESC, id) AS b,
  ARRAY_AGG(quantity ORDER BY id) FILTER (WHERE flag) AS c, ARRAY_AGG(DISTINCT user_id) AS d, MIN_BY(id, ts) AS e, MAX_BY(user_id, id) AS f,
  FIRST_VALUE(amount ORDER BY id DESC) AS g, LAST_VALUE(amount ORDER BY ts, id) AS h, HISTOGRAM(flag) AS i, MAP_AGG(id, quantity) FILTER (WHERE id < 50) AS j,
  PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY amount) AS k, PERCENTILE_DISC(0.25) WITHIN GROUP (ORDER BY id DESC) AS l, MEDIAN(DISTINCT quantity) AS m,
  MODE(flag) AS n, CORR(amount, quantity) AS o, REGR_SLOPE(amount, quantity) AS p, REGR_COUNT(amount, quantity) AS q, COVAR_SAMP(amount, quantity) AS r,
  KURTOSIS(amount) AS s, MAX(ARRAY[id, quantity]) AS t
FROM events WHERE amount IS NOT NULL AND id IS NOT NULL AND ts IS NOT NULL AND kind IS NOT NULL GROUP BY kind;
-- duckdb:
SELECT kind, kind AS a, string_agg(id::VARCHAR, '; ' ORDER BY amount DESC, id) AS b,
  array_agg(quantity ORDER BY id) FILTER (WHERE flag) AS c, list_sort(array_agg(DISTINCT user_id), 'ASC', 'NULLS FIRST') AS d,
  first(id ORDER BY ts, id) AS e, arg_max_null(user_id, id) AS f,
  first(amount ORDER BY id DESC) AS g, last(amount ORDER BY ts, id) AS h, histogram(flag) AS i, map_from_entries(array_agg((id, quantity) ORDER BY id) FILTER (WHERE id < 50)) AS j,
  quantile_cont(amount, 0.9) AS k, percentile_disc(0.25) WITHIN GROUP (ORDER BY id DESC) AS l, median(DISTINCT quantity) AS m,
  COUNT(*) FILTER (WHERE flag) > COUNT(*) FILTER (WHERE NOT flag) AS n, corr(amount, quantity) AS o, regr_slope(amount, quantity) AS p,
  regr_count(amount, quantity) AS q, covar_samp(amount, quantity) AS r, kurtosis_pop(amount) AS s, max([id, quantity]) AS t
FROM events WHERE amount IS NOT NULL AND id IS NOT NULL AND ts IS NOT NULL AND kind IS NOT NULL GROUP BY kind;

-- query: gathered_by_windows
SELECT window_end, STRING_AGG(kind) AS a, ARRAY_AGG(user_id ORDER BY id DESC) AS b, MIN_BY(quantity, id) AS c, FIRST_VALUE(id) AS d, MEDIAN(amount) AS e,
  COVAR_POP(amount, id) AS f
FROM TABLE(HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES)) WHERE id < 200 GROUP BY window_start, window_end;
-- duckdb:
SELECT window_end, string_agg(kind, ',' ORDER BY kind) AS a, array_agg(user_id ORDER BY id DESC) AS b, arg_min_null(quantity, id) AS c,
  first(id ORDER BY ts, id) AS d, median(amount) AS e, covar_pop(amount, id) AS f
FROM (SELECT *, tumble(ts, INTERVAL 5 MINUTE) + i * INTERVAL 5 MINUTE AS window_end FROM events, range(1, 3) AS r (i)) WHERE id < 200 GROUP BY 1;

-- query: gathered_of_what_changes
SELECT m, STRING_AGG(CAST(n AS VARCHAR)) AS a, ARRAY_AGG(n ORDER BY u DESC) AS b, MIN_BY(u, n * 100 + u) AS c, MAX_BY(n, u) AS d, LAST_VALUE(n ORDER BY u) AS e,
  HISTOGRAM(n) AS f, MEDIAN(n) AS g, PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY n) AS h, CORR(n, u) AS i, COVAR_POP(n, u) AS j, REGR_COUNT(n, u) AS k,
  MAX(ROW(n, u)) AS l, MAP_AGG(u, n) FILTER (WHERE u < 10) AS o
FROM (SELECT user_id AS u, COUNT(*) AS n, MOD(user_id, 4) AS m FROM events WHERE user_id IS NOT NULL GROUP BY user_id) AS a GROUP BY m;
-- duckdb:
SELECT m, string_agg(n::VARCHAR, ',' ORDER BY n::VARCHAR) AS a, array_agg(n ORDER BY u DESC) AS b, arg_min(u, n * 100 + u) AS c, arg_max(n, u) AS d,
  last(n ORDER BY u) AS e, histogram(n) AS f, median(n) AS g, percentile_disc(0.5) WITHIN GROUP (ORDER BY n) AS h, corr(n, u) AS i, covar_pop(n, u) AS j,
  regr_count(n, u) AS k, max({'f0': n, 'f1': u}) AS l, map_from_entries(array_agg((u, n) ORDER BY u) FILTER (WHERE u < 10)) AS o
FROM (SELECT user_id AS u, COUNT(*) AS n, user_id % 4 AS m FROM events WHERE user_id IS NOT NULL GROUP BY user_id) AS a GROUP BY m;
