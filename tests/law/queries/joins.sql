-- query: join_inner
SELECT e.id, e.kind, o.order_id, o.customer FROM events AS e JOIN orders AS o ON e.user_id = o.order_id WHERE e.quantity > 10;

-- query: join_on_expressions
SELECT a.id AS one, b.id AS other FROM (SELECT id, kind, quantity FROM events WHERE id < 300) a
INNER JOIN (SELECT id, kind, quantity FROM events WHERE id > 900) b ON UPPER(a.kind) = UPPER(b.kind) AND a.quantity = b.quantity + 1;

-- query: join_left
SELECT o.order_id, o.customer, e.id, e.amount FROM orders o LEFT JOIN events e ON o.order_id = e.user_id AND e.quantity > 12;

-- query: join_right
SELECT e.id, o.order_id, o.customer FROM events e RIGHT OUTER JOIN orders o ON e.user_id = o.order_id AND e.flag;

-- query: join_full
SELECT e.id, e.user_id, o.order_id, o.customer FROM (SELECT * FROM events WHERE quantity > 14) AS e FULL JOIN orders o ON e.user_id = o.order_id;

-- query: join_full_of_groups_in_order
SELECT l.k AS one, r.k AS other, l.n AS lefts, r.n AS rights, ROW_NUMBER() OVER (ORDER BY l.k, r.k) AS place
FROM (SELECT kind AS k, COUNT(*) AS n FROM events GROUP BY kind) AS l FULL JOIN (SELECT customer AS k, COUNT(*) AS n FROM orders GROUP BY customer) AS r ON l.k = r.k;
-- duckdb:
SELECT l.k AS one, r.k AS other, l.n AS lefts, r.n AS rights, ROW_NUMBER() OVER (ORDER BY l.k NULLS FIRST, r.k NULLS FIRST, l.n NULLS FIRST) AS place
FROM (SELECT kind AS k, COUNT(*) AS n FROM events GROUP BY kind) AS l FULL JOIN (SELECT customer AS k, COUNT(*) AS n FROM orders GROUP BY customer) AS r ON l.k = r.k;

-- query: join_condition_decides_who_is_alone
SELECT a.id AS one, b.id AS other FROM (SELECT id, user_id FROM events WHERE quantity = 3) a
LEFT JOIN (SELECT id, user_id FROM events WHERE quantity = 4) b ON a.user_id = b.user_id AND a.id < b.id;

-- query: join_semi
SELECT o.order_id, o.customer FROM orders o LEFT SEMI JOIN events e ON o.order_id = e.user_id AND e.quantity > 15;
-- duckdb:
SELECT o.order_id, o.customer FROM orders o SEMI JOIN events e ON o.order_id = e.user_id AND e.quantity > 15;

-- query: join_anti
SELECT o.order_id, o.customer FROM orders o ANTI JOIN events e ON o.order_id = e.user_id AND e.quantity > 15;

-- query: join_to_itself
SELECT a.id AS first, b.id AS second FROM events a JOIN events b ON a.kind = b.kind AND a.quantity = b.quantity WHERE a.id < b.id;

-- query: join_keeps_duplicates
SELECT a.word, b.n FROM words a JOIN words b ON a.word = b.word AND a.n = b.n;

-- query: join_using
SELECT * FROM (SELECT user_id AS k, id FROM events WHERE quantity > 16) AS a JOIN (SELECT order_id AS k, customer FROM orders) AS b USING (k);

-- query: join_full_using
SELECT k, a.id, b.customer FROM (SELECT user_id AS k, id FROM events WHERE quantity > 16) AS a
FULL JOIN (SELECT order_id AS k, customer FROM orders WHERE order_id < 30) AS b USING (k);

-- query: join_without_equality
SELECT a.id, b.order_id FROM (SELECT id, quantity FROM events WHERE id < 60) a JOIN (SELECT order_id FROM orders WHERE order_id < 12) b
ON a.quantity < b.order_id;

-- query: join_every_row_with_every_row
SELECT a.id, b.order_id FROM (SELECT id FROM events WHERE id < 40) a CROSS JOIN (SELECT order_id FROM orders WHERE order_id < 9) b;

-- query: join_by_comma
SELECT e.id, o.customer, w.word FROM events e, orders o, words w WHERE e.user_id = o.order_id AND w.n = e.quantity AND w.n < 3 AND e.id < 200;

-- query: join_of_three
SELECT e.id, o.customer, w.word FROM events e JOIN orders o ON e.user_id = o.order_id LEFT JOIN words w ON w.n = e.quantity AND w.n > 17 WHERE e.id < 300;

-- query: join_then_group
SELECT o.customer, COUNT(*) AS n, SUM(e.quantity) AS total, MAX(e.amount) AS most
FROM events e JOIN orders o ON e.user_id = o.order_id GROUP BY o.customer;

-- query: join_left_then_group
SELECT o.customer, COUNT(e.id) AS n, COUNT(*) AS all_rows FROM orders o LEFT JOIN events e ON o.order_id = e.user_id GROUP BY o.customer;

-- query: join_what_changes
SELECT a.q, a.n, b.n AS words FROM (SELECT quantity AS q, COUNT(*) AS n FROM events GROUP BY quantity) AS a
JOIN (SELECT n AS q, COUNT(*) AS n FROM words GROUP BY n) AS b ON a.q = b.q;

-- query: join_what_changes_by_what_changes
SELECT a.n, a.kind, b.k AS other FROM (SELECT kind, COUNT(*) AS n FROM events GROUP BY kind) AS a
FULL JOIN (SELECT k, n FROM (SELECT customer AS k, COUNT(*) AS n FROM orders GROUP BY customer) AS c) AS b ON a.n = b.n;

-- query: join_anti_what_changes
SELECT w.word, w.n FROM words w ANTI JOIN (SELECT quantity AS q, COUNT(*) AS n FROM events GROUP BY quantity HAVING COUNT(*) > 55) AS e ON w.n = e.q;

-- query: join_by_numbers_of_two_widths
SELECT e.id, w.word FROM events e JOIN words w ON e.quantity = w.n WHERE e.id < 50;

-- query: join_with_nothing
SELECT o.order_id, n.id FROM orders o LEFT JOIN nothing n ON o.order_id = n.id;

-- query: join_windows
SELECT a.window_start, a.n, b.n AS orders
FROM (SELECT window_start, window_end, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '5' MINUTES)) GROUP BY window_start, window_end) a
JOIN (SELECT window_start, window_end, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '5' MINUTES)) GROUP BY window_start, window_end) b
ON a.window_start = b.window_start AND a.window_end = b.window_end;
-- duckdb:
SELECT a.window_start, a.n, b.n AS orders
FROM (SELECT tumble(ts, INTERVAL 5 MINUTE) AS window_start, COUNT(*) AS n FROM events GROUP BY 1) a
JOIN (SELECT tumble(ts, INTERVAL 5 MINUTE) AS window_start, COUNT(*) AS n FROM orders GROUP BY 1) b USING (window_start);

-- query: join_by_in
SELECT order_id, customer FROM orders WHERE order_id IN (SELECT user_id FROM events WHERE quantity > 15) AND customer IS NOT NULL
AND customer IN (SELECT customer FROM orders GROUP BY customer HAVING COUNT(*) > 10);

-- query: join_by_comma_of_subqueries
SELECT a.id, b.customer FROM (SELECT id, user_id FROM events WHERE quantity > 14) AS a, (SELECT order_id, customer FROM orders) AS b
WHERE a.user_id = b.order_id;

-- query: joins_in_another_order
SELECT e.id, w.word, o.order_id, p.points
FROM events AS e, (SELECT DISTINCT word FROM words) AS w, orders AS o, profiles AS p
WHERE o.order_id = e.id AND p.owner = o.customer AND p.id = e.user_id AND length(w.word) = p.id AND e.quantity > 2 AND p.points > -e.quantity;

-- query: equal_subqueries
SELECT x.user_id AS u, x.n AS n, y.total AS total, z.most AS most
FROM (SELECT user_id, COUNT(*) AS n, SUM(quantity) AS total FROM events GROUP BY user_id) AS x
JOIN (SELECT user_id, COUNT(*) AS n, SUM(quantity) AS total FROM events GROUP BY user_id) AS y ON x.user_id = y.user_id AND x.n <= y.total
JOIN (SELECT MAX(c.n) AS most FROM (SELECT user_id, COUNT(*) AS n FROM events GROUP BY user_id) AS c) AS z ON z.most >= x.n;

-- query: equal_subqueries_of_changes
SELECT a.n AS n, a.users AS users, b.users AS again FROM
  (SELECT n, COUNT(*) AS users FROM (SELECT user_id, COUNT(*) AS n FROM events GROUP BY user_id) AS one GROUP BY n) AS a
JOIN (SELECT n, COUNT(*) AS users FROM (SELECT user_id, COUNT(*) AS n FROM events GROUP BY user_id) AS two GROUP BY n) AS b ON a.users = b.users;

-- query: equal_subqueries_under_other_filters
SELECT x.kind AS k, x.n AS n, y.n AS other
FROM (SELECT kind, COUNT(*) AS n FROM events GROUP BY kind) AS x JOIN (SELECT kind, COUNT(*) AS n FROM events GROUP BY kind) AS y ON x.n < y.n
WHERE x.kind <> 'buy' AND y.n > 3;

-- query: join_of_names_in_another_case
SELECT e."Kind", w."kind", w."N", e.n FROM (SELECT kind AS "Kind", COUNT(*) AS n FROM events GROUP BY kind) AS e
FULL JOIN (SELECT word AS "kind", COUNT(*) AS "N" FROM words GROUP BY word) AS w ON e."Kind" = w."kind" AND e.n < w."N";
-- duckdb:
SELECT e.kind AS "Kind", w.word AS "kind", w.many AS "N", e.n FROM (SELECT kind, COUNT(*) AS n FROM events GROUP BY kind) AS e
FULL JOIN (SELECT word, COUNT(*) AS many FROM words GROUP BY word) AS w ON e.kind = w.word AND e.n < w.many;

-- query: unnest_left_on_a_condition
SELECT e.id, tag, o.order_id, sku, n, label FROM events AS e LEFT JOIN UNNEST(tags) AS t (tag) ON tag > 'b' AND e.flag
JOIN orders AS o ON o.order_id = e.id LEFT JOIN UNNEST(items) AS i (sku, n) ON n > 1 OR sku = e.kind
LEFT JOIN UNNEST(labels) AS l (label, text) ON text <> label;
-- duckdb:
SELECT e.id, tag, o.order_id, sku, n, label FROM events AS e LEFT JOIN LATERAL (SELECT tag FROM (SELECT UNNEST(e.tags) AS tag) WHERE tag > 'b' AND e.flag) ON TRUE
JOIN orders AS o ON o.order_id = e.id
LEFT JOIN LATERAL (SELECT i.sku, i.n FROM (SELECT UNNEST(o.items) AS i) WHERE i.n > 1 OR i.sku = e.kind) ON TRUE
LEFT JOIN LATERAL (SELECT l.key AS label FROM (SELECT UNNEST(MAP_ENTRIES(o.labels)) AS l) WHERE l.value <> l.key) ON TRUE;

-- query: natural_join
SELECT * FROM (SELECT id AS "N", kind FROM events WHERE id % 3 = 0) AS a NATURAL FULL JOIN (SELECT n, word FROM words) AS b;
