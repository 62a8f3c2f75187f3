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
