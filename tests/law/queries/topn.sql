-- query: top_of_each
SELECT id, kind, price, place FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY kind ORDER BY price DESC) AS place FROM events) AS e WHERE place <= 3 AND quantity > 2;
-- duckdb:
SELECT id, kind, price, place FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY kind ORDER BY price DESC NULLS LAST, id) AS place FROM events) AS e WHERE place <= 3 AND quantity > 2;

-- query: top_of_each_among_ties
SELECT * FROM (
  SELECT id, kind, quantity, ROW_NUMBER() OVER (PARTITION BY kind ORDER BY quantity DESC NULLS LAST, id) AS place FROM events) AS e WHERE place <= 3;

-- query: top_ranks
SELECT word, n FROM words QUALIFY RANK() OVER (PARTITION BY word ORDER BY n) <= 4;

-- query: top_of_what_changes
SELECT user_id, kind, n FROM (SELECT user_id, kind, COUNT(*) AS n FROM events GROUP BY user_id, kind) AS c
QUALIFY ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY n DESC, kind NULLS FIRST) < 3;

-- query: deduplicated
SELECT user_id, id, amount FROM events QUALIFY 1 = ROW_NUMBER() OVER (PARTITION BY user_id, flag ORDER BY ts DESC);
-- duckdb:
SELECT user_id, id, amount FROM events QUALIFY 1 = ROW_NUMBER() OVER (PARTITION BY user_id, flag ORDER BY ts DESC, id);

-- query: first_in_time
SELECT user_id, id, amount FROM events QUALIFY ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY ts) = 1;
-- duckdb:
SELECT user_id, id, amount FROM events QUALIFY ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY ts, id) = 1;

-- query: second_of_all
SELECT word, n, place FROM (SELECT word, n, DENSE_RANK() OVER (ORDER BY n DESC, word) AS place FROM words) AS w WHERE place = 2;

-- query: limit
SELECT kind, id, price FROM events ORDER BY price DESC, kind LIMIT 10 OFFSET 3;
-- duckdb:
SELECT kind, id, price FROM events ORDER BY price DESC NULLS LAST, kind NULLS FIRST, id LIMIT 10 OFFSET 3;

-- query: limit_by_what_is_not_selected
SELECT kind, COUNT(*) AS n FROM events GROUP BY kind ORDER BY SUM(quantity) DESC, 1 FETCH FIRST 4 ROWS ONLY;
-- duckdb:
SELECT kind, COUNT(*) AS n FROM events GROUP BY kind ORDER BY SUM(quantity) DESC, kind NULLS FIRST LIMIT 4;

-- query: limit_without_order
SELECT word, n FROM words LIMIT 7;
-- duckdb:
SELECT word, n FROM words ORDER BY word, n LIMIT 7;

-- query: limit_below
SELECT w.kind, SUM(w.n) AS total FROM (SELECT kind, user_id, COUNT(*) AS n FROM events GROUP BY kind, user_id ORDER BY n DESC, kind, user_id LIMIT 9) AS w GROUP BY w.kind;
-- duckdb:
SELECT w.kind, SUM(w.n) AS total FROM (SELECT kind, user_id, COUNT(*) AS n FROM events GROUP BY kind, user_id
  ORDER BY n DESC, kind NULLS FIRST, user_id NULLS FIRST LIMIT 9) AS w GROUP BY w.kind;

-- query: limit_of_a_union
SELECT id, quantity FROM events WHERE flag UNION ALL SELECT order_id, 3 FROM orders ORDER BY quantity DESC, id LIMIT 12;

-- query: distinct_on
SELECT DISTINCT ON (kind, flag) kind, flag, id, quantity FROM events ORDER BY kind, flag, quantity DESC;
-- duckdb:
SELECT kind, flag, id, quantity FROM events QUALIFY ROW_NUMBER() OVER (PARTITION BY kind, flag ORDER BY quantity DESC, id) = 1;

-- query: limit_as_a_value
SELECT id, (SELECT n FROM words WHERE n > 98 ORDER BY n LIMIT 1) AS a, (SELECT n FROM words WHERE n > 1000 LIMIT 1) AS b FROM events WHERE id < 9;

-- query: offset_without_limit
SELECT order_id, customer FROM orders ORDER BY order_id DESC LIMIT ALL OFFSET 17;
-- duckdb:
SELECT order_id, customer FROM orders ORDER BY order_id DESC, customer OFFSET 17;

-- query: offset_below
SELECT customer, COUNT(*) AS n FROM (SELECT order_id, customer FROM orders ORDER BY order_id OFFSET 20) AS o GROUP BY customer;
-- duckdb:
SELECT customer, COUNT(*) AS n FROM (SELECT order_id, customer FROM orders ORDER BY order_id, customer OFFSET 20) AS o GROUP BY customer;
