-- query: exists_correlated
SELECT o.order_id, o.customer FROM orders o WHERE EXISTS (SELECT 1 FROM events e WHERE e.user_id = o.order_id AND e.quantity > 15 AND e.amount > o.discount)
AND NOT EXISTS (SELECT * FROM words w WHERE w.n = o.order_id AND w.word = 'über') AND EXISTS (SELECT 1 FROM words WHERE n > 90);

-- query: not_in_is_unknown_with_null
SELECT id, user_id FROM events WHERE user_id NOT IN (SELECT user_id FROM events WHERE quantity > 19 AND user_id > 1)
AND quantity NOT IN (SELECT user_id FROM events x WHERE x.kind = events.kind AND x.quantity > 18 AND x.user_id > 2)
AND id NOT IN (SELECT id FROM nothing);

-- query: not_in_of_nulls_is_empty
SELECT order_id FROM orders WHERE order_id NOT IN (SELECT user_id FROM events);

-- query: scalar_of_all
SELECT id, amount, (SELECT MAX(n) FROM words) AS most, quantity > (SELECT AVG(quantity) FROM events) AS above, (SELECT COUNT(*) FROM nothing) AS none
FROM events WHERE amount > (SELECT AVG(amount) FROM events WHERE quantity > 3) AND quantity >= (SELECT MIN(order_id) FROM orders);

-- query: scalar_of_no_row_is_null
SELECT id, (SELECT MAX(n) FROM words HAVING COUNT(*) > 100000) AS never, (SELECT m FROM (SELECT MIN(n) AS m FROM words) AS w WHERE m > 1000) AS none
FROM events WHERE id < 20;

-- query: scalar_correlated
SELECT o.order_id, (SELECT COUNT(*) FROM events e WHERE e.user_id = o.order_id AND e.quantity > 4) AS n,
(SELECT COALESCE(SUM(e.quantity), -1) + COUNT(e.kind) FROM events e WHERE o.order_id = e.user_id) AS total
FROM orders o WHERE o.discount < (SELECT MAX(x.discount) - 0.1 FROM orders x WHERE x.customer = o.customer);

-- query: subqueries_under_or
SELECT id FROM events e WHERE quantity = 3 OR user_id IN (SELECT order_id FROM orders WHERE discount > 0.7)
OR (kind = 'view' AND NOT EXISTS (SELECT 1 FROM orders o WHERE o.order_id = e.quantity * 2));

-- query: window_semi_join_as_flink_writes_it
SELECT * FROM (SELECT id, quantity, window_start, window_end FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '5' MINUTES))) L
WHERE L.quantity IN (SELECT order_id FROM (SELECT order_id, window_start, window_end FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '5' MINUTES))) R
  WHERE L.window_start = R.window_start AND L.window_end = R.window_end);
-- duckdb:
SELECT id, quantity, s AS window_start, s + INTERVAL 5 MINUTE AS window_end FROM (SELECT *, tumble(ts, INTERVAL 5 MINUTE) AS s FROM events) L
WHERE quantity IN (SELECT order_id FROM orders R WHERE tumble(R.ts, INTERVAL 5 MINUTE) = L.s);

-- query: window_anti_join_as_flink_writes_it
SELECT * FROM (SELECT id, user_id, window_start, window_end FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '5' MINUTES))) L
WHERE L.user_id NOT IN (SELECT quantity FROM (SELECT quantity, window_start, window_end FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '5' MINUTES)) WHERE id % 3 = 0) R
  WHERE L.window_start = R.window_start AND L.window_end = R.window_end);
-- duckdb:
SELECT id, user_id, s AS window_start, s + INTERVAL 5 MINUTE AS window_end FROM (SELECT *, tumble(ts, INTERVAL 5 MINUTE) AS s FROM events) L
WHERE user_id NOT IN (SELECT quantity FROM events R WHERE id % 3 = 0 AND tumble(R.ts, INTERVAL 5 MINUTE) = L.s);

-- query: tuples_in_subqueries
SELECT id, user_id FROM events AS e
WHERE ((user_id, quantity) IN (SELECT id, points FROM profiles) OR kind = 'buy')
AND (kind, user_id) IN (SELECT kind, user_id FROM events WHERE quantity > 15 AND id <> e.id)
AND (quantity, user_id) NOT IN (SELECT points, id FROM profiles WHERE points < 8);
-- duckdb:
SELECT id, user_id FROM events AS e
WHERE (EXISTS (SELECT 1 FROM profiles p WHERE e.user_id = p.id AND e.quantity = p.points) OR kind = 'buy')
AND EXISTS (SELECT 1 FROM events f WHERE f.kind = e.kind AND f.user_id = e.user_id AND f.quantity > 15 AND f.id <> e.id)
AND NOT EXISTS (SELECT 1 FROM profiles p WHERE p.points < 8 AND coalesce(e.quantity = p.points, true) AND coalesce(e.user_id = p.id, true));

-- query: tuples_not_in_with_nulls
SELECT p.id, p.owner FROM profiles p WHERE (p.owner, p.points) NOT IN (SELECT o.customer, o.order_id - 250 FROM orders o WHERE o.order_id % 3 = 0 AND o.discount IS NOT NULL);
-- duckdb:
SELECT p.id, p.owner FROM profiles p WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.order_id % 3 = 0 AND o.discount IS NOT NULL
AND coalesce(p.owner = o.customer, true) AND coalesce(p.points = o.order_id - 250, true));

-- query: lateral_first_rows
SELECT o.order_id, o.customer, p.number, p.points
FROM (SELECT * FROM orders WHERE order_id < 60) AS o
LEFT JOIN LATERAL (SELECT q.id, q.points FROM profiles AS q WHERE q.owner = o.customer AND q.id > 3 ORDER BY q.points DESC, q.seq LIMIT 2) AS p (number) ON TRUE;

-- query: lateral_by_another_comparison
SELECT o.order_id, s.n, s.total, n.id AS next_id, g.owner, g.most
FROM (SELECT * FROM orders WHERE order_id < 40) AS o
CROSS JOIN LATERAL (SELECT COUNT(*) AS n, SUM(p.points) AS total FROM profiles AS p WHERE p.owner = o.customer AND p.id > o.order_id) AS s
LEFT JOIN LATERAL (SELECT q.id FROM profiles AS q WHERE q.id > o.order_id ORDER BY q.id, q.seq LIMIT 1) AS n ON TRUE
LEFT JOIN LATERAL (SELECT r.owner, MAX(r.points) AS most FROM profiles AS r WHERE r.points < o.order_id GROUP BY r.owner) AS g ON TRUE;

-- query: lateral_aggregates
SELECT o.order_id, s.n, s.total, s.most + o.order_id AS most
FROM orders AS o CROSS JOIN LATERAL (SELECT COUNT(*) AS n, SUM(p.points) AS total, MAX(p.points) AS most FROM profiles AS p WHERE p.owner = o.customer AND p.points > 40) AS s;

-- query: lateral_aggregate_by_nothing
SELECT o.order_id, s.n FROM orders AS o CROSS JOIN LATERAL (SELECT COUNT(*) AS n FROM profiles AS p WHERE p.owner = o.customer AND p.points > 40 GROUP BY ()) AS s;
-- duckdb:
SELECT o.order_id, s.n FROM orders AS o CROSS JOIN LATERAL (SELECT COUNT(*) AS n FROM profiles AS p WHERE p.owner = o.customer AND p.points > 40) AS s;

-- query: lateral_rows
SELECT e.id, m.* FROM events AS e
LEFT JOIN LATERAL (SELECT p.twice, p.points - e.quantity AS gap, 1 AS mark FROM profiles AS p WHERE p.id = e.user_id AND p.points < e.quantity AND p.owner <> 'bob') AS m ON TRUE
WHERE e.id % 2 = 0;

-- query: lateral_groups
SELECT o.order_id, g.k, g.n, d.owner, u.x FROM orders AS o
JOIN LATERAL (SELECT p.points % 3 AS k, COUNT(*) AS n FROM profiles AS p WHERE p.owner = o.customer GROUP BY p.points % 3 HAVING COUNT(*) > 1) AS g ON g.n > o.order_id % 5,
LATERAL (SELECT DISTINCT p.owner FROM profiles AS p WHERE p.points = o.order_id) AS d,
(SELECT x FROM UNNEST(ARRAY['a', 'b']) AS t (x)) AS u;

-- query: subqueries_in_correlated_subqueries
SELECT o.order_id FROM orders o WHERE EXISTS (
  SELECT 1 FROM events e WHERE e.user_id = o.order_id AND e.amount > o.discount
  AND EXISTS (SELECT 1 FROM words w WHERE w.n = e.quantity AND w.n > 3)
) AND NOT EXISTS (
  SELECT 1 FROM events e WHERE e.user_id = o.order_id AND e.quantity NOT IN (SELECT x.quantity FROM events x WHERE x.kind = e.kind AND x.user_id > 2)
);

-- query: values_in_correlated_subqueries
SELECT o.order_id, o.customer FROM orders o WHERE o.order_id IN (
  SELECT e.user_id FROM events e WHERE e.amount > o.discount AND e.quantity * 2 > (SELECT MIN(w.n) FROM words w WHERE w.n % 20 = e.quantity)
  AND o.discount < (SELECT MAX(p.discount) FROM orders p WHERE p.order_id = e.quantity)
) AND EXISTS (
  SELECT 1 FROM events e WHERE e.user_id = o.order_id
  AND (e.kind = 'view' OR EXISTS (SELECT 1 FROM words w WHERE w.n = e.quantity) OR o.discount > 0.5)
);

-- query: exists_with_limit
SELECT o.order_id, EXISTS (SELECT 1 FROM words w WHERE w.n = o.order_id ORDER BY w.word LIMIT 2) AS said,
  EXISTS (SELECT 1 FROM words w WHERE w.n = o.order_id LIMIT 0) AS never, EXISTS (SELECT 1 FROM words LIMIT 1 OFFSET 1000000) AS many
FROM orders o
WHERE EXISTS (SELECT e.id FROM events e WHERE e.user_id = o.order_id AND e.amount > o.discount ORDER BY e.id FETCH FIRST 1 ROW ONLY)
AND NOT EXISTS (SELECT COUNT(*) FROM events LIMIT 0);

-- query: values_with_having
SELECT o.order_id, (SELECT COUNT(*) FROM events e WHERE e.user_id = o.order_id HAVING COUNT(*) > 20) AS many,
  (SELECT COUNT(*) FROM events e WHERE e.user_id = o.order_id HAVING COUNT(*) < 20) AS few,
  (SELECT SUM(e.quantity) FROM events e WHERE e.user_id = o.order_id GROUP BY () HAVING MAX(e.quantity) IS NOT NULL) AS total,
  (SELECT 7 FROM events e WHERE e.user_id = o.order_id HAVING SUM(e.quantity) IS NULL) AS seven
FROM orders o;

-- query: sets_of_nothing_alone
SELECT 'a' AS which, COUNT(*) AS n FROM nothing GROUP BY GROUPING SETS (()) UNION ALL
SELECT 'b', COUNT(*) FROM nothing GROUP BY ROLLUP () UNION ALL
SELECT 'c', 46 FROM nothing GROUP BY CUBE () UNION ALL
SELECT 'd', 46 FROM nothing HAVING 1 = 1 UNION ALL
SELECT 'e', COUNT(*) FROM nothing GROUP BY kind, ROLLUP () UNION ALL
SELECT 'f', n FROM words WHERE NOT EXISTS (SELECT 1 FROM nothing GROUP BY ROLLUP (kind)) UNION ALL
SELECT 'g', n FROM words WHERE n = 7 AND EXISTS (SELECT kind FROM nothing GROUP BY ROLLUP (kind));
-- duckdb:
SELECT 'a' AS which, COUNT(*) AS n FROM nothing GROUP BY GROUPING SETS (()) UNION ALL
SELECT 'b', COUNT(*) FROM nothing GROUP BY GROUPING SETS (()) UNION ALL
SELECT 'c', 46 FROM nothing GROUP BY GROUPING SETS (()) UNION ALL
SELECT 'd', 46 FROM nothing HAVING 1 = 1 UNION ALL
SELECT 'e', COUNT(*) FROM nothing GROUP BY kind, GROUPING SETS (()) UNION ALL
SELECT 'f', n FROM words WHERE NOT EXISTS (SELECT 1 FROM nothing GROUP BY ROLLUP (kind)) UNION ALL
SELECT 'g', n FROM words WHERE n = 7 AND EXISTS (SELECT kind FROM nothing GROUP BY ROLLUP (kind));

-- query: values_beside_aggregates
SELECT kind AS k, SUM(quantity) AS total, COUNT(*) * 100 DIV (SELECT COUNT(*) FROM events) AS share, (SELECT MAX(n) FROM words) AS most
FROM events GROUP BY 1 HAVING SUM(quantity) > (SELECT MIN(n) FROM words) AND kind IN (SELECT kind FROM events WHERE quantity > 3);
-- duckdb:
SELECT kind AS k, SUM(quantity) AS total, COUNT(*) * 100 // (SELECT COUNT(*) FROM events) AS share, (SELECT MAX(n) FROM words) AS most
FROM events GROUP BY 1 HAVING SUM(quantity) > (SELECT MIN(n) FROM words) AND kind IN (SELECT kind FROM events WHERE quantity > 3);

-- query: value_beside_an_aggregate_of_nothing
SELECT (SELECT MAX(n) FROM words) AS most, COUNT(*) AS n, CASE WHEN EXISTS (SELECT 1 FROM words WHERE n > 3) THEN COUNT(amount) END AS some FROM nothing;

-- query: values_of_the_row_itself
SELECT id, (SELECT 1) AS one, (SELECT e.quantity + 1) AS more FROM events AS e WHERE quantity > (SELECT 3) AND (SELECT kind) <> 'buy';

-- query: elements_exist
SELECT id, EXISTS (SELECT 1 FROM UNNEST(e.tags) AS u (tag) WHERE tag > e.kind) AS greater,
  NOT EXISTS (SELECT tag FROM UNNEST(tags) AS u (tag)) AS none
FROM events AS e WHERE EXISTS (SELECT 1 FROM UNNEST(tags) AS u (tag) WHERE tag <> kind LIMIT 1) OR quantity > 10;
-- duckdb:
SELECT id, len(list_filter(coalesce(tags, []), lambda tag: tag > kind)) > 0 AS greater, len(coalesce(tags, [])) = 0 AS none
FROM events WHERE len(list_filter(coalesce(tags, []), lambda tag: tag <> kind)) > 0 OR quantity > 10;

-- query: elements_that_are_rows_exist
SELECT order_id FROM orders AS o WHERE EXISTS (SELECT 1 FROM UNNEST(o.items) AS i WHERE i.n > 2 AND i.n > o.order_id % 5)
AND NOT EXISTS (SELECT 1 FROM UNNEST(labels) AS l (k, v) WHERE k = v);
-- duckdb:
SELECT order_id FROM orders WHERE len(list_filter(coalesce(items, []), lambda i: i.n > 2 AND i.n > order_id % 5)) > 0
AND len(list_filter(coalesce(map_entries(labels), []), lambda l: l.key = l.value)) = 0;

-- query: elements_that_hold_a_value
SELECT id, kind NOT IN (SELECT UPPER(tag) FROM UNNEST(e.tags) AS u (tag)) AS out, (kind IN (SELECT tag FROM UNNEST(e.tags) AS u (tag))) IS NULL AS unknown
FROM events AS e WHERE kind IN (SELECT tag FROM UNNEST(tags) AS u (tag) WHERE tag > 'a') OR kind NOT IN (SELECT tag FROM UNNEST(tags) AS u (tag));
-- duckdb:
SELECT id, out, held IS NULL AS unknown FROM (SELECT *,
  CASE WHEN len(coalesce(tags, [])) = 0 THEN true WHEN kind IS NULL THEN NULL WHEN list_contains(list_transform(tags, lambda t: upper(t)), kind) THEN false
    WHEN list_contains(list_transform(tags, lambda t: t IS NULL), true) THEN NULL ELSE true END AS out,
  CASE WHEN len(coalesce(tags, [])) = 0 THEN false WHEN kind IS NULL THEN NULL WHEN list_contains(tags, kind) THEN true
    WHEN list_contains(list_transform(tags, lambda t: t IS NULL), true) THEN NULL ELSE false END AS held FROM events)
WHERE (held AND kind > 'a') OR NOT held;

-- query: values_of_elements
SELECT id, (SELECT COUNT(*) FROM UNNEST(e.tags) AS u (tag) WHERE tag > 'b') AS n, (SELECT COUNT(tag) FROM UNNEST(tags) AS u (tag)) AS known,
  (SELECT MAX(LENGTH(tag)) FROM UNNEST(tags) AS u (tag)) AS longest, (SELECT MIN(tag || e.kind) FROM UNNEST(tags) AS u (tag)) AS least
FROM events AS e WHERE quantity > (SELECT COUNT(*) FROM UNNEST(e.tags) AS u (tag));
-- duckdb:
SELECT id, len(list_filter(coalesce(tags, []), lambda t: t > 'b')) AS n, len(list_filter(coalesce(tags, []), lambda t: t IS NOT NULL)) AS known,
  list_max(list_transform(tags, lambda t: length(t)))::INT AS longest, list_min(list_transform(tags, lambda t: t || kind)) AS least
FROM events WHERE quantity > len(coalesce(tags, []));

-- query: exists_two_levels_down
SELECT id FROM events AS e
WHERE EXISTS (
  SELECT 1 FROM orders AS o WHERE o.order_id % 40 = e.user_id AND NOT EXISTS (SELECT 1 FROM words AS w WHERE w.n = o.order_id AND w.word < e.kind)
);

-- query: not_exists_two_levels_down
SELECT id, kind FROM events AS e
WHERE id < 200 AND NOT EXISTS (
  SELECT 1 FROM words AS w
  WHERE w.n < 20 AND NOT EXISTS (SELECT 1 FROM orders AS o WHERE o.order_id = w.n + e.quantity AND (o.customer <> e.kind OR e.kind IS NULL))
);

-- query: in_two_levels_down
SELECT id FROM events AS e
WHERE user_id NOT IN (
  SELECT o.order_id % 50 FROM orders AS o WHERE o.total > 10 AND o.order_id IN (SELECT w.n FROM words AS w WHERE w.n % 5 <> e.quantity % 5)
);

-- query: value_two_levels_down
SELECT id,
  (SELECT COUNT(*) FROM orders AS o WHERE o.order_id % 40 = e.user_id AND EXISTS (SELECT 1 FROM words AS w WHERE w.n = o.order_id AND w.word > e.kind)) AS n
FROM events AS e WHERE id < 300;

-- query: exists_in_a_union
SELECT id FROM events AS e
WHERE EXISTS (SELECT 1 FROM orders AS o WHERE o.order_id = e.quantity AND o.total > 60000 UNION ALL SELECT w.n FROM words AS w WHERE w.word = e.kind);

-- query: in_a_union
SELECT id FROM events AS e
WHERE quantity IN (SELECT o.order_id FROM orders AS o WHERE o.order_id > e.user_id UNION SELECT w.n FROM words AS w WHERE w.n % 3 = e.id % 3);

-- query: value_of_a_union
SELECT id,
  (SELECT MAX(u.v) FROM (SELECT o.order_id AS v FROM orders AS o WHERE o.order_id < e.quantity UNION ALL SELECT w.n FROM words AS w WHERE w.n = e.user_id) AS u) AS most
FROM events AS e WHERE id < 300;

-- query: scalar_of_one_row
SELECT e.id, (SELECT kind FROM single) AS k, (SELECT customer FROM orders WHERE order_id = 8) AS customer,
(SELECT discount FROM orders WHERE order_id = 7) AS unknown, (SELECT id FROM nothing) AS none
FROM events AS e WHERE e.quantity > (SELECT quantity FROM events WHERE id = 3) OR e.user_id = (SELECT user_id FROM single);

-- query: scalar_of_one_row_each
SELECT e.id, (SELECT o.customer FROM orders AS o WHERE o.order_id = e.user_id) AS customer, (SELECT o.discount * 2 FROM orders AS o WHERE o.order_id = e.quantity AND o.discount > 0.2) AS twice
FROM events AS e WHERE e.quantity < COALESCE((SELECT o.order_id % 20 FROM orders AS o WHERE e.quantity = o.order_id AND o.customer <> 'bob'), 5);

-- query: scalar_of_a_row_that_changes
SELECT e.id, (SELECT p.owner FROM profiles AS p WHERE p.id = e.user_id) AS owner, (SELECT points FROM profiles WHERE id = 3) AS points
FROM events AS e;

-- query: scalar_of_distinct
SELECT o.order_id, (SELECT DISTINCT e.user_id + 1 FROM events AS e WHERE e.user_id = o.order_id AND e.quantity > 2) AS above, (SELECT DISTINCT user_id FROM events WHERE user_id = 1) AS hot,
(SELECT DISTINCT CAST(NULL AS INT) FROM events AS e WHERE e.user_id = o.order_id) AS unknown
FROM orders AS o;

-- query: scalar_of_its_own_group
SELECT o.order_id, (SELECT COUNT(*) FROM events AS e WHERE e.user_id = o.order_id GROUP BY e.user_id) AS n,
(SELECT MAX(e.quantity) FROM events AS e WHERE e.kind = o.customer AND e.user_id = o.order_id GROUP BY e.kind, e.user_id HAVING COUNT(*) > 1) AS most
FROM orders AS o;

-- query: values_by_another_comparison
SELECT o.order_id, (SELECT COUNT(*) FROM events e WHERE e.user_id = o.order_id AND e.amount > o.discount) AS n,
EXISTS (SELECT 1 FROM events e WHERE e.user_id < o.order_id AND e.quantity > 18) AS seen,
(SELECT MAX(e.quantity) FROM events e WHERE e.user_id BETWEEN o.order_id - 3 AND o.order_id OR e.kind = o.customer) AS most
FROM orders o WHERE o.order_id < 200;

-- query: exists_in_a_union_as_a_value
SELECT o.order_id, EXISTS (SELECT 1 FROM events e WHERE e.user_id = o.order_id UNION ALL SELECT 1 FROM words w WHERE w.n = o.order_id) AS seen,
CASE WHEN NOT EXISTS (SELECT n FROM words WHERE n > 90 INTERSECT SELECT order_id FROM orders) THEN 1 END AS never
FROM orders o;

-- query: exists_of_groups
SELECT o.order_id FROM orders o
WHERE EXISTS (SELECT e.kind FROM events e WHERE e.user_id = o.order_id GROUP BY e.kind HAVING SUM(e.quantity) > 20)
OR NOT EXISTS (SELECT COUNT(*) FROM events e WHERE e.user_id = o.order_id HAVING COUNT(*) < 3)
OR EXISTS (SELECT 1 FROM events e WHERE e.user_id < o.order_id AND e.amount < o.discount GROUP BY e.kind HAVING COUNT(*) > 5);

-- query: in_of_groups
SELECT e.id FROM events e
WHERE e.id IN (SELECT MAX(x.id) FROM events x WHERE x.kind = e.kind)
OR e.quantity IN (SELECT MIN(x.quantity) FROM events x WHERE x.kind = e.kind GROUP BY x.user_id HAVING COUNT(*) > 2)
OR (e.quantity, e.kind) IN (SELECT MAX(x.quantity), x.kind FROM events x WHERE x.user_id = e.user_id GROUP BY x.kind);
-- duckdb:
SELECT e.id FROM events e
WHERE e.id = (SELECT MAX(x.id) FROM events x WHERE x.kind = e.kind)
OR e.quantity IN (SELECT MIN(x.quantity) FROM events x WHERE x.kind = e.kind GROUP BY x.user_id HAVING COUNT(*) > 2)
OR e.quantity = (SELECT MAX(x.quantity) FROM events x WHERE x.user_id = e.user_id AND x.kind = e.kind);

-- query: not_in_of_groups
SELECT e.id FROM events e
WHERE e.quantity NOT IN (SELECT MAX(x.quantity) FROM events x WHERE x.kind = e.kind AND x.id <> e.id GROUP BY x.user_id)
AND e.id NOT IN (SELECT MAX(x.id) FROM events x WHERE x.user_id = e.user_id);
