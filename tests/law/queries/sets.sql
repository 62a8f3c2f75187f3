-- query: intersect_and_except
SELECT user_id AS k, kind FROM events WHERE quantity > 3 INTERSECT SELECT user_id, kind FROM events WHERE quantity < 9
EXCEPT SELECT user_id, kind FROM events WHERE flag;

-- query: intersect_all_binds_stronger
SELECT kind, quantity FROM events WHERE id < 300 EXCEPT ALL SELECT kind, quantity FROM events WHERE id > 600
INTERSECT ALL SELECT kind, quantity FROM events WHERE amount > 0;

-- query: except_in_parentheses
SELECT word AS w, n FROM words EXCEPT (SELECT word, n FROM words WHERE n < 9 UNION ALL SELECT kind, quantity FROM events INTERSECT ALL SELECT word, n FROM words);

-- query: except_of_what_changes
SELECT n, COUNT(*) AS times FROM (
  SELECT kind AS k, COUNT(*) AS n FROM events GROUP BY kind EXCEPT ALL SELECT customer, COUNT(*) FROM orders WHERE order_id > 30 GROUP BY customer
) AS rest GROUP BY n;

-- query: intersect_of_what_changes
SELECT MOD(n, 7) AS m FROM (SELECT quantity, COUNT(*) AS n FROM events GROUP BY quantity) AS a
INTERSECT ALL SELECT MOD(n, 7) FROM (SELECT n AS q, COUNT(*) AS n FROM words GROUP BY n) AS b;

-- query: intersect_of_numbers_and_zeros
SELECT d, f FROM types INTERSECT SELECT -d, f FROM types;

-- query: except_of_nothing
SELECT id FROM nothing EXCEPT SELECT id FROM events UNION ALL (SELECT id FROM single EXCEPT ALL SELECT id FROM nothing);

-- query: values_join_a_stream
SELECT e.id, t.name, t.least, y.b FROM events e JOIN (VALUES (1, 'one', NULL), (2, 'two', 2.5), (3, NULL, 7)) AS t (q, name, least)
ON e.quantity = t.q, (VALUES (DATE '2013-01-01', 1e0)) AS y (a, b);

-- query: select_without_from
SELECT 1 AS a, UPPER('x') AS b, CAST(NULL AS INT) AS c UNION ALL SELECT x, 'v', x FROM (VALUES (4), (NULL), (6)) AS v (x)
UNION ALL SELECT id, kind, quantity FROM single;
