-- query: hint_parallelism
SELECT /*+ PARALLELISM('events'='2') */ kind, COUNT(*) AS n, SUM(amount) AS total FROM events GROUP BY kind;
-- duckdb:
SELECT kind, COUNT(*) AS n, SUM(amount) AS total FROM events GROUP BY kind;

-- query: hint_grouping_shuffle
SELECT /*+ GROUPING('events'='shuffle'), PARALLELISM('events'='2') */ id, UPPER(kind) AS big FROM events WHERE quantity > 5;
-- duckdb:
SELECT id, upper(kind) AS big FROM events WHERE quantity > 5;

-- query: set_parallelism
SET 'parallelism' = '3';
SELECT user_id, kind, COUNT(*) AS n FROM events GROUP BY user_id, kind;
-- duckdb:
SELECT user_id, kind, COUNT(*) AS n FROM events GROUP BY user_id, kind;

-- query: set_small_batches
SET 'batch.rows' = '7';
SELECT window_start, COUNT(*) AS n, SUM(amount) AS total
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;
-- duckdb:
SELECT tumble(ts, INTERVAL 1 MINUTE) AS window_start, COUNT(*) AS n, SUM(amount) AS total FROM events GROUP BY 1;

-- query: parallel_window
SET 'parallelism' = '2';
SELECT window_start, window_end, user_id, COUNT(*) AS n, SUM(price) AS total
FROM TABLE(HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES)) GROUP BY window_start, window_end, user_id;
-- duckdb:
SELECT window_start, window_start + INTERVAL 10 MINUTE AS window_end, user_id, COUNT(*) AS n, SUM(price) AS total
FROM (SELECT *, unnest(hops(ts, INTERVAL 5 MINUTE, INTERVAL 10 MINUTE)) AS window_start FROM events) GROUP BY 1, 2, 3;
