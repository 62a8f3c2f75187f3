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

-- query: limit_all_behind_a_table
SELECT id, kind FROM events LIMIT ALL;

-- query: similar_to
SELECT id, kind FROM events WHERE kind SIMILAR TO '(b|v)[a-z]+' AND kind NOT SIMILAR TO '%w_?';
-- duckdb:
SELECT id, kind FROM events WHERE regexp_full_match(kind, '(b|v)[a-z]+') AND NOT regexp_full_match(kind, '.*w.?');

-- query: similar_to_escaped
SELECT word, word SIMILAR TO '%!_%|_{1,3}' ESCAPE '!' AS short, word SIMILAR TO '%[^a-z]%' AS odd FROM words;
-- duckdb:
SELECT word, regexp_full_match(word, '(?s).*_.*|.{1,3}') AS short, regexp_full_match(word, '(?s).*[^a-z].*') AS odd FROM words;
