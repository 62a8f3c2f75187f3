-- query: session_by_key
SELECT user_id, window_start, window_end, COUNT(*) AS n, SUM(amount) AS total, COUNT(DISTINCT kind) AS kinds
FROM TABLE(SESSION(TABLE events PARTITION BY user_id, DESCRIPTOR(ts), INTERVAL '20' SECONDS)) GROUP BY user_id, window_start, window_end;
-- duckdb:
WITH marked AS (SELECT *, COALESCE(ts > LAG(ts) OVER (PARTITION BY user_id ORDER BY ts) + INTERVAL 20 SECOND, true) AS begins FROM events),
numbered AS (SELECT *, COUNT(*) FILTER (WHERE begins) OVER (PARTITION BY user_id ORDER BY ts) AS session FROM marked)
SELECT user_id, MIN(ts) AS window_start, MAX(ts) + INTERVAL 20 SECOND AS window_end, COUNT(*) AS n, SUM(amount) AS total, COUNT(DISTINCT kind) AS kinds
FROM numbered GROUP BY user_id, session;

-- query: session_legacy_that_changes
SELECT UPPER(kind) AS k, SESSION_START(ts, INTERVAL '5' SECOND) AS s, SESSION_END(ts, INTERVAL '5' SECOND) AS e, COUNT(*) AS n, MAX(price) AS most
FROM events GROUP BY SESSION(ts, INTERVAL '5' SECOND), k EMIT CHANGES;
-- duckdb:
WITH marked AS (SELECT *, UPPER(kind) AS k, COALESCE(ts > LAG(ts) OVER (PARTITION BY UPPER(kind) ORDER BY ts) + INTERVAL 5 SECOND, true) AS begins FROM events),
numbered AS (SELECT *, COUNT(*) FILTER (WHERE begins) OVER (PARTITION BY k ORDER BY ts) AS session FROM marked)
SELECT k, MIN(ts) AS s, MAX(ts) + INTERVAL 5 SECOND AS e, COUNT(*) AS n, MAX(price) AS most FROM numbered GROUP BY k, session;

-- query: session_rows_without_keys
SELECT order_id, window_start, window_end, window_time FROM TABLE(SESSION(TABLE orders, DESCRIPTOR(ts), INTERVAL '3' SECONDS)) WHERE order_id > 10;
-- duckdb:
WITH marked AS (SELECT *, COALESCE(ts > LAG(ts) OVER (ORDER BY ts) + INTERVAL 3 SECOND, true) AS begins FROM orders),
numbered AS (SELECT *, COUNT(*) FILTER (WHERE begins) OVER (ORDER BY ts) AS session FROM marked),
spans AS (SELECT order_id, MIN(ts) OVER (PARTITION BY session) AS window_start, MAX(ts) OVER (PARTITION BY session) + INTERVAL 3 SECOND AS window_end FROM numbered)
SELECT *, window_end - INTERVAL 1 MILLISECOND AS window_time FROM spans WHERE order_id > 10;

-- query: session_of_windows_that_change
CREATE VIEW minutes AS SELECT window_time AS ended, kind, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, window_time, kind EMIT CHANGES;
SELECT kind, window_start, window_end, COUNT(*) AS times, SUM(n) AS total
FROM TABLE(SESSION(TABLE minutes PARTITION BY kind, DESCRIPTOR(ended), INTERVAL '1' MINUTE)) GROUP BY kind, window_start, window_end;
-- duckdb:
WITH minutes AS (SELECT tumble(ts, INTERVAL 1 MINUTE) + INTERVAL 59999 MILLISECOND AS ended, kind, COUNT(*) AS n FROM events GROUP BY 1, 2),
marked AS (SELECT *, COALESCE(ended > LAG(ended) OVER (PARTITION BY kind ORDER BY ended) + INTERVAL 1 MINUTE, true) AS begins FROM minutes),
numbered AS (SELECT *, COUNT(*) FILTER (WHERE begins) OVER (PARTITION BY kind ORDER BY ended) AS session FROM marked)
SELECT kind, MIN(ended) AS window_start, MAX(ended) + INTERVAL 1 MINUTE AS window_end, COUNT(*) AS times, SUM(n) AS total FROM numbered GROUP BY kind, session;

-- query: session_first_and_last_value
SELECT user_id, window_start, FIRST_VALUE(id) AS opened, LAST_VALUE(id) FILTER (WHERE flag) AS closed
FROM TABLE(SESSION(TABLE events PARTITION BY user_id, DESCRIPTOR(ts), INTERVAL '20' SECONDS)) GROUP BY user_id, window_start, window_end;
-- duckdb:
WITH marked AS (SELECT *, COALESCE(ts > LAG(ts) OVER (PARTITION BY user_id ORDER BY ts) + INTERVAL 20 SECOND, true) AS begins FROM events),
numbered AS (SELECT *, COUNT(*) FILTER (WHERE begins) OVER (PARTITION BY user_id ORDER BY ts) AS session FROM marked)
SELECT user_id, MIN(ts) AS window_start, first(id ORDER BY ts, id) AS opened, last(id ORDER BY ts, id) FILTER (WHERE flag) AS closed
FROM numbered GROUP BY user_id, session;
