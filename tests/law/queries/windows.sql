-- query: tumble
SELECT window_start, window_end, COUNT(*) AS n, SUM(amount) AS total
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '5' MINUTES)) GROUP BY window_start, window_end;
-- duckdb:
SELECT tumble(ts, INTERVAL 5 MINUTE) AS window_start, tumble(ts, INTERVAL 5 MINUTE) + INTERVAL 5 MINUTE AS window_end, COUNT(*) AS n, SUM(amount) AS total
FROM events GROUP BY 1, 2;

-- query: tumble_by_key
SELECT window_start, window_end, kind, COUNT(*) AS n, MIN(price) AS low, AVG(amount) AS mean
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '5' MINUTES)) GROUP BY window_start, window_end, kind;
-- duckdb:
SELECT tumble(ts, INTERVAL 5 MINUTE) AS window_start, tumble(ts, INTERVAL 5 MINUTE) + INTERVAL 5 MINUTE AS window_end, kind, COUNT(*) AS n,
  MIN(price) AS low, AVG(amount) AS mean
FROM events GROUP BY 1, 2, 3;

-- query: tumble_with_offset
SELECT window_start, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' MINUTES, INTERVAL '3' MINUTES)) GROUP BY window_start, window_end;
-- duckdb:
SELECT time_bucket(INTERVAL 10 MINUTE, ts, TIMESTAMP '1970-01-01 00:03:00') AS window_start, COUNT(*) AS n FROM events GROUP BY 1;

-- query: tumble_named_arguments
SELECT window_end, user_id, SUM(quantity) AS total
FROM TABLE(TUMBLE(DATA => TABLE events, TIMECOL => DESCRIPTOR(ts), SIZE => INTERVAL '1' HOUR)) GROUP BY window_end, user_id;
-- duckdb:
SELECT tumble(ts, INTERVAL 1 HOUR) + INTERVAL 1 HOUR AS window_end, user_id, SUM(quantity) AS total FROM events GROUP BY 1, 2;

-- query: tumble_window_time
SELECT window_start, window_end, window_time, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, window_time;
-- duckdb:
SELECT w AS window_start, w + INTERVAL 1 MINUTE AS window_end, w + INTERVAL 59999 MILLISECOND AS window_time, COUNT(*) AS n
FROM (SELECT tumble(ts, INTERVAL 1 MINUTE) AS w FROM orders) GROUP BY w;

-- query: tumble_rows_without_grouping
SELECT id, window_start, window_end FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '30' SECONDS)) WHERE quantity > 10;
-- duckdb:
SELECT id, tumble(ts, INTERVAL 30 SECOND) AS window_start, window_start + INTERVAL 30 SECOND AS window_end FROM events WHERE quantity > 10;

-- query: tumble_of_filtered_view
CREATE VIEW bought AS SELECT ts, price, user_id FROM events WHERE kind = 'buy';
SELECT window_start, COUNT(*) AS n, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE bought, DESCRIPTOR(ts), INTERVAL '10' MINUTES)) GROUP BY window_start, window_end;
-- duckdb:
SELECT tumble(ts, INTERVAL 10 MINUTE) AS window_start, COUNT(*) AS n, SUM(price) AS total FROM events WHERE kind = 'buy' GROUP BY 1;

-- query: tumble_having
SELECT window_start, user_id, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' MINUTES)) GROUP BY window_start, window_end, user_id HAVING COUNT(*) >= 5;
-- duckdb:
SELECT tumble(ts, INTERVAL 10 MINUTE) AS window_start, user_id, COUNT(*) AS n FROM events GROUP BY 1, 2 HAVING COUNT(*) >= 5;

-- query: tumble_distinct_and_filter
SELECT window_start, COUNT(DISTINCT user_id) AS users, COUNT(*) FILTER (WHERE flag) AS flagged, SUM(DISTINCT quantity) AS quantities
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' MINUTES)) GROUP BY window_start, window_end;
-- duckdb:
SELECT tumble(ts, INTERVAL 10 MINUTE) AS window_start, COUNT(DISTINCT user_id) AS users, COUNT(*) FILTER (WHERE flag) AS flagged,
  SUM(DISTINCT quantity) AS quantities
FROM events GROUP BY 1;

-- query: hop
SELECT window_start, window_end, COUNT(*) AS n, MAX(amount) AS high
FROM TABLE(HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '2' MINUTES, INTERVAL '10' MINUTES)) GROUP BY window_start, window_end;
-- duckdb:
SELECT window_start, window_start + INTERVAL 10 MINUTE AS window_end, COUNT(*) AS n, MAX(amount) AS high
FROM (SELECT *, unnest(hops(ts, INTERVAL 2 MINUTE, INTERVAL 10 MINUTE)) AS window_start FROM events) GROUP BY 1, 2;

-- query: hop_by_key
SELECT window_end, customer, SUM(total) AS total, COUNT(DISTINCT address.city) AS cities
FROM TABLE(HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '5' MINUTES, INTERVAL '15' MINUTES)) GROUP BY window_start, window_end, customer;
-- duckdb:
SELECT window_start + INTERVAL 15 MINUTE AS window_end, customer, SUM(total) AS total, COUNT(DISTINCT address.city) AS cities
FROM (SELECT *, unnest(hops(ts, INTERVAL 5 MINUTE, INTERVAL 15 MINUTE)) AS window_start FROM orders) GROUP BY 1, 2;

-- query: legacy_tumble
SELECT TUMBLE_START(ts, INTERVAL '5' MINUTE) AS opened, TUMBLE_END(ts, INTERVAL '5' MINUTE) AS closed, kind, COUNT(*) AS n
FROM events GROUP BY TUMBLE(ts, INTERVAL '5' MINUTE), kind;
-- duckdb:
SELECT tumble(ts, INTERVAL 5 MINUTE) AS opened, tumble(ts, INTERVAL 5 MINUTE) + INTERVAL 5 MINUTE AS closed, kind, COUNT(*) AS n FROM events GROUP BY 1, 2, 3;

-- query: legacy_hop
SELECT HOP_START(ts, INTERVAL '5' MINUTE, INTERVAL '10' MINUTE) AS opened, SUM(quantity) AS total
FROM events GROUP BY HOP(ts, INTERVAL '5' MINUTE, INTERVAL '10' MINUTE);
-- duckdb:
SELECT opened, SUM(quantity) AS total FROM (SELECT *, unnest(hops(ts, INTERVAL 5 MINUTE, INTERVAL 10 MINUTE)) AS opened FROM events) GROUP BY 1;

-- query: window_of_a_window
CREATE VIEW per_minute AS
SELECT window_time AS wt, kind, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, window_time, kind;
SELECT window_start, COUNT(*) AS windows, SUM(n) AS total, MAX(n) AS busiest
FROM TABLE(TUMBLE(TABLE per_minute, DESCRIPTOR(wt), INTERVAL '10' MINUTES)) GROUP BY window_start, window_end;
-- duckdb:
SELECT tumble(w, INTERVAL 10 MINUTE) AS window_start, COUNT(*) AS windows, SUM(n) AS total, MAX(n) AS busiest
FROM (SELECT tumble(ts, INTERVAL 1 MINUTE) AS w, kind, COUNT(*) AS n FROM events GROUP BY 1, 2) GROUP BY 1;

-- query: hop_and_whole_in_one_union
SELECT COUNT(*) AS n, SUM(c) AS total FROM (
  SELECT id AS i, quantity AS c FROM events
  UNION ALL SELECT user_id AS i, quantity AS c FROM TABLE(HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES))) AS rows_of_both;
-- duckdb:
SELECT COUNT(*) AS n, SUM(c) AS total FROM (
  SELECT quantity AS c FROM events
  UNION ALL SELECT quantity AS c FROM (SELECT *, unnest(hops(ts, INTERVAL 5 MINUTE, INTERVAL 10 MINUTE)) AS window_start FROM events));

-- query: cumulate
SELECT window_start, window_end, kind, COUNT(*) AS n, SUM(amount) AS total
FROM TABLE(CUMULATE(TABLE events, DESCRIPTOR(ts), INTERVAL '5' MINUTES, INTERVAL '15' MINUTES, INTERVAL '2' MINUTES))
GROUP BY window_start, window_end, kind;
-- duckdb:
SELECT w AS window_start, w + k * INTERVAL 5 MINUTE AS window_end, kind, COUNT(*) AS n, SUM(amount) AS total
FROM (SELECT *, time_bucket(INTERVAL 15 MINUTE, ts, TIMESTAMP '1970-01-01 00:02:00') AS w FROM events), (SELECT UNNEST([1, 2, 3]) AS k)
WHERE ts < w + k * INTERVAL 5 MINUTE GROUP BY 1, 2, 3;

-- query: names_that_operators_use_themselves
SELECT window_start, kind, MIN(kind) AS keys, MAX(kind) AS "rows", SUM(quantity) AS "group", COUNT(*) AS "end", COUNT(DISTINCT id) AS changes
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, kind;
-- duckdb:
SELECT window_start, kind, MIN(kind) AS keys, MAX(kind) AS "rows", SUM(quantity) AS "group", COUNT(*) AS "end", COUNT(DISTINCT id) AS changes
FROM (SELECT *, tumble(ts, INTERVAL 1 MINUTE) AS window_start FROM events) GROUP BY window_start, kind;

-- query: closed_windows_take_rows
SELECT window_start, k, COUNT(*) AS rows_in, COUNT(DISTINCT n) AS numbers, MAX(n) AS most
FROM TABLE(HOP(TABLE late, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)) GROUP BY window_start, window_end, k
EMIT AFTER WATERMARK WITH LATENESS INTERVAL '1' DAY;
-- duckdb:
SELECT tumble(ts, INTERVAL 5 SECOND) - back * INTERVAL 5 SECOND AS window_start, k, COUNT(*) AS rows_in, COUNT(DISTINCT n) AS numbers, MAX(n) AS most
FROM late, (VALUES (0), (1)) AS panes (back) GROUP BY 1, k;

-- query: windows_of_windows_that_take_rows
WITH counts AS (
  SELECT window_time AS ts, k, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE late, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end, window_time, k
)
SELECT window_start, COUNT(*) AS windows, SUM(n) AS n FROM TABLE(TUMBLE(TABLE counts, DESCRIPTOR(ts), INTERVAL '30' SECOND))
GROUP BY window_start, window_end
EMIT AFTER WATERMARK WITH LATENESS INTERVAL '1' DAY;
-- duckdb:
SELECT tumble(window_start, INTERVAL 30 SECOND) AS window_start, COUNT(*) AS windows, SUM(n)::BIGINT AS n
FROM (SELECT tumble(ts, INTERVAL 10 SECOND) AS window_start, k, COUNT(*) AS n FROM late GROUP BY 1, 2) GROUP BY 1;

-- query: told_early_and_corrected
SELECT window_start, k, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE late, DESCRIPTOR(ts), INTERVAL '10' SECONDS)) GROUP BY window_start, window_end, k
EMIT AFTER DELAY INTERVAL '1' SECOND AND AFTER WATERMARK WITH LATENESS INTERVAL '1' DAY;
-- duckdb:
SELECT tumble(ts, INTERVAL 10 SECOND) AS window_start, k, COUNT(*) AS n FROM late GROUP BY 1, 2;

-- query: busiest_of_each_hop
SELECT per.user_id AS u, per.num AS num, per.starts AS starts
FROM (
  SELECT user_id, COUNT(*) AS num, window_start AS starts, window_end AS ends
  FROM TABLE(HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '2' MINUTES, INTERVAL '10' MINUTES)) GROUP BY user_id, window_start, window_end
) AS per
JOIN (
  SELECT MAX(num) AS most, starts, ends
  FROM (
    SELECT COUNT(*) AS num, window_start AS starts, window_end AS ends
    FROM TABLE(HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '2' MINUTES, INTERVAL '10' MINUTES)) GROUP BY user_id, window_start, window_end
  ) AS counts
  GROUP BY starts, ends
) AS top ON per.starts = top.starts AND per.ends = top.ends AND per.num >= top.most;
-- duckdb:
WITH counts AS (
  SELECT user_id, window_start, COUNT(*) AS num
  FROM (SELECT *, unnest(hops(ts, INTERVAL 2 MINUTE, INTERVAL 10 MINUTE)) AS window_start FROM events) GROUP BY 1, 2
)
SELECT user_id AS u, num, window_start AS starts FROM counts AS c WHERE num >= (SELECT MAX(num) FROM counts AS d WHERE d.window_start = c.window_start);

-- query: tumble_by_the_clock
SELECT window_start, window_end, kind, COUNT(*) AS n, SUM(quantity) AS total
FROM TABLE(TUMBLE(TABLE events_of_a_year, DESCRIPTOR(happened), INTERVAL '1' DAY, 'Europe/Berlin')) GROUP BY window_start, window_end, kind;
-- duckdb:
SELECT in_utc(day, 'Europe/Berlin') AS window_start, in_utc(day + INTERVAL 1 DAY, 'Europe/Berlin') AS window_end, kind, COUNT(*) AS n, SUM(quantity) AS total
FROM (SELECT *, date_trunc('day', clock(happened, 'Europe/Berlin')) AS day FROM events_of_a_year) GROUP BY 1, 2, 3;

-- query: days_that_a_zone_skipped
SELECT DATE(FROM_UTC_TIMESTAMP(window_start, 'Pacific/Apia')) AS day, window_time, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE events_of_a_year, DESCRIPTOR(happened), INTERVAL '1' DAY, TIMEZONE => 'Pacific/Apia'))
GROUP BY window_start, window_end, window_time;
-- duckdb:
SELECT CAST(day AS DATE) AS day, in_utc(day + INTERVAL 1 DAY, 'Pacific/Apia') - INTERVAL 1 MILLISECOND AS window_time, COUNT(*) AS n
FROM (SELECT date_trunc('day', clock(happened, 'Pacific/Apia')) AS day FROM events_of_a_year) GROUP BY day;

-- query: weeks_that_begin_on_monday_at_six
SELECT TUMBLE_START(happened, INTERVAL '7' DAY, INTERVAL '102' HOUR, 'America/Sao_Paulo') AS monday, COUNT(*) AS n, MIN(id) AS lowest
FROM events_of_a_year GROUP BY TUMBLE(happened, INTERVAL '7' DAY, INTERVAL '102' HOUR, 'America/Sao_Paulo');
-- duckdb:
SELECT in_utc(monday, 'America/Sao_Paulo') AS monday, COUNT(*) AS n, MIN(id) AS lowest
FROM (SELECT id, time_bucket(INTERVAL 7 DAY, clock(happened, 'America/Sao_Paulo'), TIMESTAMP '1970-01-05 06:00:00') AS monday FROM events_of_a_year) GROUP BY 1;

-- query: hop_by_the_clock
SELECT window_start, window_end, COUNT(*) AS n, COUNT(DISTINCT kind) AS kinds
FROM TABLE(HOP(TABLE events_of_a_year, DESCRIPTOR(happened), INTERVAL '1' DAY, INTERVAL '3' DAY, 'Asia/Beirut')) GROUP BY window_start, window_end;
-- duckdb:
SELECT in_utc(day, 'Asia/Beirut') AS window_start, in_utc(day + INTERVAL 3 DAY, 'Asia/Beirut') AS window_end, COUNT(*) AS n, COUNT(DISTINCT kind) AS kinds
FROM (SELECT *, unnest(hops(clock(happened, 'Asia/Beirut'), INTERVAL 1 DAY, INTERVAL 3 DAY)) AS day FROM events_of_a_year) GROUP BY 1, 2;

-- query: days_by_the_clock_beside_each_other
CREATE VIEW days AS SELECT window_start, window_end, kind, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE events_of_a_year, DESCRIPTOR(happened), INTERVAL '1' DAY, 'Europe/Berlin')) GROUP BY window_start, window_end, kind;
SELECT a.window_start, a.n AS bought, b.n AS viewed FROM days AS a JOIN days AS b ON a.window_start = b.window_start
WHERE a.kind = 'buy' AND b.kind = 'view';
-- duckdb:
SELECT in_utc(day, 'Europe/Berlin') AS window_start, COUNT(*) FILTER (WHERE kind = 'buy') AS bought, COUNT(*) FILTER (WHERE kind = 'view') AS viewed
FROM (SELECT *, date_trunc('day', clock(happened, 'Europe/Berlin')) AS day FROM events_of_a_year) GROUP BY day HAVING bought > 0 AND viewed > 0;
