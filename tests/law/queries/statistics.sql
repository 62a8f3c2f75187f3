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
SELECT kind, STRING_AGG(DISTINCT kind) AS a, LISTAGG(CAST(id AS VARCHAR), ' / ') WITHIN GROUP (ORDER BY amount DESC, id) AS b,
  ARRAY_AGG(quantity ORDER BY id) FILTER (WHERE flag) AS c, ARRAY_AGG(DISTINCT user_id) AS d, MIN_BY(id, ts) AS e, MAX_BY(user_id, id) AS f,
  FIRST_VALUE(amount ORDER BY id DESC) AS g, LAST_VALUE(amount ORDER BY ts, id) AS h, HISTOGRAM(flag) AS i, MAP_AGG(id, quantity) FILTER (WHERE id < 50) AS j,
  PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY amount) AS k, PERCENTILE_DISC(0.25) WITHIN GROUP (ORDER BY id DESC) AS l, MEDIAN(DISTINCT quantity) AS m,
  MODE(flag) AS n, CORR(amount, quantity) AS o, REGR_SLOPE(amount, quantity) AS p, REGR_COUNT(amount, quantity) AS q, COVAR_SAMP(amount, quantity) AS r,
  KURTOSIS(amount) AS s, MAX(ARRAY[id, quantity]) AS t
FROM events WHERE amount IS NOT NULL AND id IS NOT NULL AND ts IS NOT NULL AND kind IS NOT NULL GROUP BY kind;
-- duckdb:
SELECT kind, kind AS a, string_agg(id::VARCHAR, ' / ' ORDER BY amount DESC, id) AS b,
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

-- query: every_aggregate_of_values
SELECT kind,
  ARRAY_AGG(quantity ORDER BY id) AS elements, ARRAY_AGG(quantity ORDER BY id) FILTER (WHERE flag) AS elements_if,
  ARRAY_AGG(DISTINCT quantity) AS elements_once, COLLECT_LIST(quantity ORDER BY id) AS listed,
  COLLECT_LIST(quantity ORDER BY id) FILTER (WHERE flag) AS listed_if, COLLECT_LIST(DISTINCT quantity) AS listed_once,
  LISTAGG(CAST(id AS VARCHAR), '/') WITHIN GROUP (ORDER BY id) AS texts,
  LISTAGG(CAST(id AS VARCHAR), '/') WITHIN GROUP (ORDER BY id) FILTER (WHERE flag) AS texts_if,
  LISTAGG(DISTINCT CAST(id AS VARCHAR), '/') AS texts_once, MAP_AGG(id, quantity) AS pairs, MAP_AGG(id, quantity) FILTER (WHERE flag) AS pairs_if,
  MAP_AGG(DISTINCT id, quantity) AS pairs_once, HISTOGRAM(quantity) AS counts, HISTOGRAM(quantity) FILTER (WHERE flag) AS counts_if,
  HISTOGRAM(DISTINCT quantity) AS counts_once, MIN_BY(quantity, id) AS least, MIN_BY(quantity, id) FILTER (WHERE flag) AS least_if,
  MAX_BY(quantity, id) AS most, MAX_BY(quantity, id) FILTER (WHERE flag) AS most_if, FIRST_VALUE(quantity ORDER BY id) AS earliest,
  FIRST_VALUE(quantity ORDER BY id) FILTER (WHERE flag) AS earliest_if, LAST_VALUE(quantity ORDER BY id) AS latest,
  LAST_VALUE(quantity ORDER BY id) FILTER (WHERE flag) AS latest_if, PERCENTILE_CONT(0.4) WITHIN GROUP (ORDER BY quantity) AS quantile,
  PERCENTILE_CONT(0.4) WITHIN GROUP (ORDER BY quantity) FILTER (WHERE flag) AS quantile_if,
  PERCENTILE_CONT(DISTINCT 0.4) WITHIN GROUP (ORDER BY quantity) AS quantile_once, PERCENTILE_DISC(0.4) WITHIN GROUP (ORDER BY quantity) AS quantile_of,
  PERCENTILE_DISC(0.4) WITHIN GROUP (ORDER BY quantity) FILTER (WHERE flag) AS quantile_of_if,
  PERCENTILE_DISC(DISTINCT 0.4) WITHIN GROUP (ORDER BY quantity) AS quantile_of_once, MEDIAN(quantity) AS middle,
  MEDIAN(quantity) FILTER (WHERE flag) AS middle_if, MEDIAN(DISTINCT quantity) AS middle_once, MODE(quantity > 2) AS often,
  MODE(quantity > 2) FILTER (WHERE flag) AS often_if, MODE(DISTINCT quantity > -1) AS often_once, CORR(quantity, id) AS corr,
  CORR(quantity, id) FILTER (WHERE flag) AS corr_if, CORR(DISTINCT quantity, id) AS corr_once, COVAR_POP(quantity, id) AS covar_pop,
  COVAR_POP(quantity, id) FILTER (WHERE flag) AS covar_pop_if, COVAR_POP(DISTINCT quantity, id) AS covar_pop_once,
  COVAR_SAMP(quantity, id) AS covar_samp, COVAR_SAMP(quantity, id) FILTER (WHERE flag) AS covar_samp_if,
  COVAR_SAMP(DISTINCT quantity, id) AS covar_samp_once, REGR_COUNT(quantity, id) AS regr_count,
  REGR_COUNT(quantity, id) FILTER (WHERE flag) AS regr_count_if, REGR_COUNT(DISTINCT quantity, id) AS regr_count_once,
  REGR_AVGX(quantity, id) AS regr_avgx, REGR_AVGX(quantity, id) FILTER (WHERE flag) AS regr_avgx_if, REGR_AVGY(quantity, id) AS regr_avgy,
  REGR_AVGY(quantity, id) FILTER (WHERE flag) AS regr_avgy_if, REGR_SXX(quantity, id) AS regr_sxx,
  REGR_SXX(quantity, id) FILTER (WHERE flag) AS regr_sxx_if, REGR_SYY(quantity, id) AS regr_syy,
  REGR_SYY(quantity, id) FILTER (WHERE flag) AS regr_syy_if, REGR_SXY(quantity, id) AS regr_sxy,
  REGR_SXY(quantity, id) FILTER (WHERE flag) AS regr_sxy_if, REGR_SXY(DISTINCT quantity, id) AS regr_sxy_once, REGR_SLOPE(quantity, id) AS regr_slope,
  REGR_SLOPE(quantity, id) FILTER (WHERE flag) AS regr_slope_if, REGR_SLOPE(DISTINCT quantity, id) AS regr_slope_once,
  REGR_INTERCEPT(quantity, id) AS regr_intercept, REGR_INTERCEPT(quantity, id) FILTER (WHERE flag) AS regr_intercept_if,
  REGR_INTERCEPT(DISTINCT quantity, id) AS regr_intercept_once, REGR_R2(quantity, id) AS regr_r2,
  REGR_R2(quantity, id) FILTER (WHERE flag) AS regr_r2_if, REGR_R2(DISTINCT quantity, id) AS regr_r2_once, SKEWNESS(quantity) AS skew,
  SKEWNESS(quantity) FILTER (WHERE flag) AS skew_if, SKEWNESS(DISTINCT quantity * quantity) AS skew_once, KURTOSIS(quantity) AS tails,
  KURTOSIS(quantity) FILTER (WHERE flag) AS tails_if, KURTOSIS(DISTINCT quantity) AS tails_once,
  APPROX_COUNT_DISTINCT(quantity) AS about, APPROX_COUNT_DISTINCT(quantity, 0.02) FILTER (WHERE flag) AS about_if, APPROX_PERCENTILE(quantity, 0.4) AS roughly,
  APPROX_PERCENTILE(quantity, 0.4) FILTER (WHERE flag) AS roughly_if, APPROX_QUANTILE(DISTINCT quantity, 0.4) AS roughly_once,
  APPROX_PERCENTILE(0.7, 0.001) WITHIN GROUP (ORDER BY quantity DESC) AS roughly_down
FROM events WHERE kind IS NOT NULL GROUP BY kind;
-- duckdb:
SELECT kind,
  array_agg(quantity ORDER BY id) AS elements, array_agg(quantity ORDER BY id) FILTER (WHERE flag) AS elements_if,
  list_sort(array_agg(DISTINCT quantity)) AS elements_once, array_agg(quantity ORDER BY id) AS listed,
  array_agg(quantity ORDER BY id) FILTER (WHERE flag) AS listed_if, list_sort(array_agg(DISTINCT quantity)) AS listed_once,
  string_agg(id::VARCHAR, '/' ORDER BY id) AS texts, string_agg(id::VARCHAR, '/' ORDER BY id) FILTER (WHERE flag) AS texts_if,
  string_agg(DISTINCT id::VARCHAR, '/' ORDER BY id::VARCHAR) AS texts_once, map_from_entries(array_agg((id, quantity) ORDER BY id)) AS pairs,
  map_from_entries(array_agg((id, quantity) ORDER BY id) FILTER (WHERE flag)) AS pairs_if,
  map_from_entries(list_sort(array_agg(DISTINCT (id, quantity)))) AS pairs_once, histogram(quantity) AS counts,
  histogram(quantity) FILTER (WHERE flag) AS counts_if, histogram(DISTINCT quantity) AS counts_once, arg_min(quantity, id) AS least,
  arg_min(quantity, id) FILTER (WHERE flag) AS least_if, arg_max(quantity, id) AS most, arg_max(quantity, id) FILTER (WHERE flag) AS most_if,
  first(quantity ORDER BY id) AS earliest, first(quantity ORDER BY id) FILTER (WHERE flag) AS earliest_if, last(quantity ORDER BY id) AS latest,
  last(quantity ORDER BY id) FILTER (WHERE flag) AS latest_if, quantile_cont(quantity, 0.4) AS quantile,
  quantile_cont(quantity, 0.4) FILTER (WHERE flag) AS quantile_if, quantile_cont(DISTINCT quantity, 0.4) AS quantile_once,
  quantile_disc(quantity, 0.4) AS quantile_of, quantile_disc(quantity, 0.4) FILTER (WHERE flag) AS quantile_of_if,
  quantile_disc(DISTINCT quantity, 0.4) AS quantile_of_once, median(quantity) AS middle, median(quantity) FILTER (WHERE flag) AS middle_if,
  median(DISTINCT quantity) AS middle_once, 2 * COUNT(*) FILTER (WHERE quantity > 2) > COUNT(*) AS often,
  2 * COUNT(*) FILTER (WHERE flag AND quantity > 2) > COUNT(*) FILTER (WHERE flag) AS often_if, bool_and(quantity > -1) AS often_once,
  corr(quantity, id) AS corr, corr(quantity, id) FILTER (WHERE flag) AS corr_if, corr(DISTINCT quantity, id) AS corr_once,
  covar_pop(quantity, id) AS covar_pop, covar_pop(quantity, id) FILTER (WHERE flag) AS covar_pop_if, covar_pop(DISTINCT quantity, id) AS covar_pop_once,
  covar_samp(quantity, id) AS covar_samp, covar_samp(quantity, id) FILTER (WHERE flag) AS covar_samp_if,
  covar_samp(DISTINCT quantity, id) AS covar_samp_once, regr_count(quantity, id) AS regr_count,
  regr_count(quantity, id) FILTER (WHERE flag) AS regr_count_if, regr_count(DISTINCT quantity, id) AS regr_count_once,
  regr_avgx(quantity, id) AS regr_avgx, regr_avgx(quantity, id) FILTER (WHERE flag) AS regr_avgx_if, regr_avgy(quantity, id) AS regr_avgy,
  regr_avgy(quantity, id) FILTER (WHERE flag) AS regr_avgy_if, regr_sxx(quantity, id) AS regr_sxx,
  regr_sxx(quantity, id) FILTER (WHERE flag) AS regr_sxx_if, regr_syy(quantity, id) AS regr_syy,
  regr_syy(quantity, id) FILTER (WHERE flag) AS regr_syy_if, regr_sxy(quantity, id) AS regr_sxy,
  regr_sxy(quantity, id) FILTER (WHERE flag) AS regr_sxy_if, regr_sxy(DISTINCT quantity, id) AS regr_sxy_once, regr_slope(quantity, id) AS regr_slope,
  regr_slope(quantity, id) FILTER (WHERE flag) AS regr_slope_if, regr_slope(DISTINCT quantity, id) AS regr_slope_once,
  regr_intercept(quantity, id) AS regr_intercept, regr_intercept(quantity, id) FILTER (WHERE flag) AS regr_intercept_if,
  regr_intercept(DISTINCT quantity, id) AS regr_intercept_once, regr_r2(quantity, id) AS regr_r2,
  regr_r2(quantity, id) FILTER (WHERE flag) AS regr_r2_if, regr_r2(DISTINCT quantity, id) AS regr_r2_once,
  (avg(POW(quantity, 3)) - 3 * avg(quantity) * avg(POW(quantity, 2)) + 2 * POW(avg(quantity), 3)) / POW(stddev_pop(quantity), 3) AS skew,
  (avg(POW(quantity, 3)) FILTER (WHERE flag) - 3 * avg(quantity) FILTER (WHERE flag) * avg(POW(quantity, 2)) FILTER (WHERE flag) + 2 * POW(avg(quantity) FILTER (WHERE flag), 3)) / POW(stddev_pop(quantity) FILTER (WHERE flag), 3) AS skew_if,
  (avg(DISTINCT POW((quantity * quantity), 3)) - 3 * avg(DISTINCT (quantity * quantity)) * avg(DISTINCT POW((quantity * quantity), 2)) + 2 * POW(avg(DISTINCT (quantity * quantity)), 3)) / POW(stddev_pop(DISTINCT (quantity * quantity)), 3) AS skew_once,
  kurtosis_pop(quantity) AS tails, kurtosis_pop(quantity) FILTER (WHERE flag) AS tails_if, kurtosis_pop(DISTINCT quantity) AS tails_once,
  count(DISTINCT quantity) AS about, count(DISTINCT quantity) FILTER (WHERE flag) AS about_if, quantile_cont(quantity, 0.4) AS roughly,
  quantile_cont(quantity, 0.4) FILTER (WHERE flag) AS roughly_if, quantile_cont(DISTINCT quantity, 0.4) AS roughly_once,
  quantile_cont(quantity, 0.3) AS roughly_down
FROM events WHERE kind IS NOT NULL GROUP BY kind;

-- query: every_aggregate_of_values_that_change
SELECT m,
  ARRAY_AGG(n ORDER BY k) AS elements, ARRAY_AGG(n ORDER BY k) FILTER (WHERE n > 9) AS elements_if, ARRAY_AGG(DISTINCT n) AS elements_once,
  COLLECT_LIST(n ORDER BY k) AS listed, COLLECT_LIST(n ORDER BY k) FILTER (WHERE n > 9) AS listed_if, COLLECT_LIST(DISTINCT n) AS listed_once,
  LISTAGG(CAST(k AS VARCHAR), '/') WITHIN GROUP (ORDER BY k) AS texts,
  LISTAGG(CAST(k AS VARCHAR), '/') WITHIN GROUP (ORDER BY k) FILTER (WHERE n > 9) AS texts_if, LISTAGG(DISTINCT CAST(k AS VARCHAR), '/') AS texts_once,
  MAP_AGG(k, n) AS pairs, MAP_AGG(k, n) FILTER (WHERE n > 9) AS pairs_if, MAP_AGG(DISTINCT k, n) AS pairs_once, HISTOGRAM(n) AS counts,
  HISTOGRAM(n) FILTER (WHERE n > 9) AS counts_if, HISTOGRAM(DISTINCT n) AS counts_once, MIN_BY(n, k) AS least,
  MIN_BY(n, k) FILTER (WHERE n > 9) AS least_if, MAX_BY(n, k) AS most, MAX_BY(n, k) FILTER (WHERE n > 9) AS most_if,
  FIRST_VALUE(n ORDER BY k) AS earliest, FIRST_VALUE(n ORDER BY k) FILTER (WHERE n > 9) AS earliest_if, LAST_VALUE(n ORDER BY k) AS latest,
  LAST_VALUE(n ORDER BY k) FILTER (WHERE n > 9) AS latest_if, PERCENTILE_CONT(0.4) WITHIN GROUP (ORDER BY n) AS quantile,
  PERCENTILE_CONT(0.4) WITHIN GROUP (ORDER BY n) FILTER (WHERE n > 9) AS quantile_if,
  PERCENTILE_CONT(DISTINCT 0.4) WITHIN GROUP (ORDER BY n) AS quantile_once, PERCENTILE_DISC(0.4) WITHIN GROUP (ORDER BY n) AS quantile_of,
  PERCENTILE_DISC(0.4) WITHIN GROUP (ORDER BY n) FILTER (WHERE n > 9) AS quantile_of_if,
  PERCENTILE_DISC(DISTINCT 0.4) WITHIN GROUP (ORDER BY n) AS quantile_of_once, MEDIAN(n) AS middle, MEDIAN(n) FILTER (WHERE n > 9) AS middle_if,
  MEDIAN(DISTINCT n) AS middle_once, MODE(n > 2) AS often, MODE(n > 2) FILTER (WHERE n > 9) AS often_if, MODE(DISTINCT n > -1) AS often_once,
  CORR(n, k) AS corr, CORR(n, k) FILTER (WHERE n > 9) AS corr_if, CORR(DISTINCT n, k) AS corr_once, COVAR_POP(n, k) AS covar_pop,
  COVAR_POP(n, k) FILTER (WHERE n > 9) AS covar_pop_if, COVAR_POP(DISTINCT n, k) AS covar_pop_once, COVAR_SAMP(n, k) AS covar_samp,
  COVAR_SAMP(n, k) FILTER (WHERE n > 9) AS covar_samp_if, COVAR_SAMP(DISTINCT n, k) AS covar_samp_once, REGR_COUNT(n, k) AS regr_count,
  REGR_COUNT(n, k) FILTER (WHERE n > 9) AS regr_count_if, REGR_COUNT(DISTINCT n, k) AS regr_count_once, REGR_AVGX(n, k) AS regr_avgx,
  REGR_AVGX(n, k) FILTER (WHERE n > 9) AS regr_avgx_if, REGR_AVGY(n, k) AS regr_avgy, REGR_AVGY(n, k) FILTER (WHERE n > 9) AS regr_avgy_if,
  REGR_SXX(n, k) AS regr_sxx, REGR_SXX(n, k) FILTER (WHERE n > 9) AS regr_sxx_if, REGR_SYY(n, k) AS regr_syy,
  REGR_SYY(n, k) FILTER (WHERE n > 9) AS regr_syy_if, REGR_SXY(n, k) AS regr_sxy, REGR_SXY(n, k) FILTER (WHERE n > 9) AS regr_sxy_if,
  REGR_SXY(DISTINCT n, k) AS regr_sxy_once, REGR_SLOPE(n, k) AS regr_slope, REGR_SLOPE(n, k) FILTER (WHERE n > 9) AS regr_slope_if,
  REGR_SLOPE(DISTINCT n, k) AS regr_slope_once, REGR_INTERCEPT(n, k) AS regr_intercept, REGR_INTERCEPT(n, k) FILTER (WHERE n > 9) AS regr_intercept_if,
  REGR_INTERCEPT(DISTINCT n, k) AS regr_intercept_once, REGR_R2(n, k) AS regr_r2, REGR_R2(n, k) FILTER (WHERE n > 9) AS regr_r2_if,
  REGR_R2(DISTINCT n, k) AS regr_r2_once, SKEWNESS(n) AS skew, SKEWNESS(n) FILTER (WHERE n > 9) AS skew_if, SKEWNESS(DISTINCT n * n) AS skew_once,
  KURTOSIS(n) AS tails, KURTOSIS(n) FILTER (WHERE n > 9) AS tails_if, KURTOSIS(DISTINCT n) AS tails_once,
  APPROX_COUNT_DISTINCT(n) AS about, APPROX_COUNT_DISTINCT(n, 0.02) FILTER (WHERE n > 9) AS about_if, APPROX_PERCENTILE(n, 0.4) AS roughly,
  APPROX_PERCENTILE(n, 0.4) FILTER (WHERE n > 9) AS roughly_if, APPROX_QUANTILE(DISTINCT n, 0.4) AS roughly_once,
  APPROX_PERCENTILE(0.7, 0.001) WITHIN GROUP (ORDER BY n DESC) AS roughly_down
FROM (SELECT user_id AS k, COUNT(*) AS n, MOD(user_id, 4) AS m FROM events WHERE user_id IS NOT NULL GROUP BY user_id) AS a GROUP BY m;
-- duckdb:
SELECT m,
  array_agg(n ORDER BY k) AS elements, array_agg(n ORDER BY k) FILTER (WHERE n > 9) AS elements_if, list_sort(array_agg(DISTINCT n)) AS elements_once,
  array_agg(n ORDER BY k) AS listed, array_agg(n ORDER BY k) FILTER (WHERE n > 9) AS listed_if, list_sort(array_agg(DISTINCT n)) AS listed_once,
  string_agg(k::VARCHAR, '/' ORDER BY k) AS texts, string_agg(k::VARCHAR, '/' ORDER BY k) FILTER (WHERE n > 9) AS texts_if,
  string_agg(DISTINCT k::VARCHAR, '/' ORDER BY k::VARCHAR) AS texts_once, map_from_entries(array_agg((k, n) ORDER BY k)) AS pairs,
  map_from_entries(array_agg((k, n) ORDER BY k) FILTER (WHERE n > 9)) AS pairs_if,
  map_from_entries(list_sort(array_agg(DISTINCT (k, n)))) AS pairs_once, histogram(n) AS counts, histogram(n) FILTER (WHERE n > 9) AS counts_if,
  histogram(DISTINCT n) AS counts_once, arg_min(n, k) AS least, arg_min(n, k) FILTER (WHERE n > 9) AS least_if, arg_max(n, k) AS most,
  arg_max(n, k) FILTER (WHERE n > 9) AS most_if, first(n ORDER BY k) AS earliest, first(n ORDER BY k) FILTER (WHERE n > 9) AS earliest_if,
  last(n ORDER BY k) AS latest, last(n ORDER BY k) FILTER (WHERE n > 9) AS latest_if, quantile_cont(n, 0.4) AS quantile,
  quantile_cont(n, 0.4) FILTER (WHERE n > 9) AS quantile_if, quantile_cont(DISTINCT n, 0.4) AS quantile_once, quantile_disc(n, 0.4) AS quantile_of,
  quantile_disc(n, 0.4) FILTER (WHERE n > 9) AS quantile_of_if, quantile_disc(DISTINCT n, 0.4) AS quantile_of_once, median(n) AS middle,
  median(n) FILTER (WHERE n > 9) AS middle_if, median(DISTINCT n) AS middle_once, 2 * COUNT(*) FILTER (WHERE n > 2) > COUNT(*) AS often,
  2 * COUNT(*) FILTER (WHERE n > 9 AND n > 2) > COUNT(*) FILTER (WHERE n > 9) AS often_if, bool_and(n > -1) AS often_once, corr(n, k) AS corr,
  corr(n, k) FILTER (WHERE n > 9) AS corr_if, corr(DISTINCT n, k) AS corr_once, covar_pop(n, k) AS covar_pop,
  covar_pop(n, k) FILTER (WHERE n > 9) AS covar_pop_if, covar_pop(DISTINCT n, k) AS covar_pop_once, covar_samp(n, k) AS covar_samp,
  covar_samp(n, k) FILTER (WHERE n > 9) AS covar_samp_if, covar_samp(DISTINCT n, k) AS covar_samp_once, regr_count(n, k) AS regr_count,
  regr_count(n, k) FILTER (WHERE n > 9) AS regr_count_if, regr_count(DISTINCT n, k) AS regr_count_once, regr_avgx(n, k) AS regr_avgx,
  regr_avgx(n, k) FILTER (WHERE n > 9) AS regr_avgx_if, regr_avgy(n, k) AS regr_avgy, regr_avgy(n, k) FILTER (WHERE n > 9) AS regr_avgy_if,
  regr_sxx(n, k) AS regr_sxx, regr_sxx(n, k) FILTER (WHERE n > 9) AS regr_sxx_if, regr_syy(n, k) AS regr_syy,
  regr_syy(n, k) FILTER (WHERE n > 9) AS regr_syy_if, regr_sxy(n, k) AS regr_sxy, regr_sxy(n, k) FILTER (WHERE n > 9) AS regr_sxy_if,
  regr_sxy(DISTINCT n, k) AS regr_sxy_once, regr_slope(n, k) AS regr_slope, regr_slope(n, k) FILTER (WHERE n > 9) AS regr_slope_if,
  regr_slope(DISTINCT n, k) AS regr_slope_once, regr_intercept(n, k) AS regr_intercept, regr_intercept(n, k) FILTER (WHERE n > 9) AS regr_intercept_if,
  regr_intercept(DISTINCT n, k) AS regr_intercept_once, regr_r2(n, k) AS regr_r2, regr_r2(n, k) FILTER (WHERE n > 9) AS regr_r2_if,
  regr_r2(DISTINCT n, k) AS regr_r2_once, (avg(POW(n, 3)) - 3 * avg(n) * avg(POW(n, 2)) + 2 * POW(avg(n), 3)) / POW(stddev_pop(n), 3) AS skew,
  (avg(POW(n, 3)) FILTER (WHERE n > 9) - 3 * avg(n) FILTER (WHERE n > 9) * avg(POW(n, 2)) FILTER (WHERE n > 9) + 2 * POW(avg(n) FILTER (WHERE n > 9), 3)) / POW(stddev_pop(n) FILTER (WHERE n > 9), 3) AS skew_if,
  (avg(DISTINCT POW((n * n), 3)) - 3 * avg(DISTINCT (n * n)) * avg(DISTINCT POW((n * n), 2)) + 2 * POW(avg(DISTINCT (n * n)), 3)) / POW(stddev_pop(DISTINCT (n * n)), 3) AS skew_once,
  kurtosis_pop(n) AS tails, kurtosis_pop(n) FILTER (WHERE n > 9) AS tails_if, kurtosis_pop(DISTINCT n) AS tails_once,
  count(DISTINCT n) AS about, count(DISTINCT n) FILTER (WHERE n > 9) AS about_if, quantile_cont(n, 0.4) AS roughly,
  quantile_cont(n, 0.4) FILTER (WHERE n > 9) AS roughly_if, quantile_cont(DISTINCT n, 0.4) AS roughly_once,
  quantile_cont(n, 0.3) AS roughly_down
FROM (SELECT user_id AS k, COUNT(*) AS n, MOD(user_id, 4) AS m FROM events WHERE user_id IS NOT NULL GROUP BY user_id) AS a GROUP BY m;
