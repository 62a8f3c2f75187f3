-- query: top_of_each
SELECT id, kind, price, place FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY kind ORDER BY price DESC) AS place FROM events) AS e WHERE place <= 3 AND quantity > 2;
-- duckdb:
SELECT id, kind, price, place FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY kind ORDER BY price DESC NULLS LAST, id) AS place FROM events) AS e WHERE place <= 3 AND quantity > 2;

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
