-- query: where_comparison
SELECT id, kind FROM events WHERE quantity > 15 AND kind = 'buy';

-- query: where_null_is_not_true
SELECT id FROM events WHERE NOT (amount > 0);

-- query: where_or_is_null
SELECT id, user_id FROM events WHERE user_id IS NULL OR user_id > 30;

-- query: where_on_expression
SELECT id FROM events WHERE (quantity * 3 + id) % 5 = 0 AND CHAR_LENGTH(kind) > 3;
-- duckdb:
SELECT id FROM events WHERE (quantity * 3 + id) % 5 = 0 AND length(kind) > 3;

-- query: where_nothing_passes
SELECT id, kind FROM events WHERE quantity > 1000;

-- query: where_over_subquery
SELECT id, double_quantity FROM (SELECT id, quantity * 2 AS double_quantity, flag FROM events WHERE flag) AS kept WHERE double_quantity > 20;

-- query: where_time_range
SELECT id, ts FROM events WHERE ts >= TIMESTAMP '2024-02-28 23:50:00' AND ts < TIMESTAMP '2024-02-29 00:05:00';

-- query: select_star
SELECT * FROM events WHERE id % 10 = 3;

-- query: rows_told_now_and_then
SELECT id, kind FROM events WHERE quantity > 2 EMIT AFTER DELAY INTERVAL '1' SECOND;
-- duckdb:
SELECT id, kind FROM events WHERE quantity > 2;

-- query: limit_all
SELECT id, kind FROM events ORDER BY id LIMIT ALL;
