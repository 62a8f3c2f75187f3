-- query: changelog_rows
SELECT id, owner, balance * 2 AS twice, opened, address.city AS city FROM accounts WHERE balance > -5000 OR balance IS NULL;

-- query: changelog_grouped
SELECT owner, COUNT(*) AS n, COUNT(balance) AS known, SUM(balance) AS total, MIN(balance) AS least, MAX(address.zip) AS most, COUNT(DISTINCT address.city) AS cities
FROM accounts GROUP BY owner;

-- query: changelog_joined
SELECT a.id, a.owner, o.order_id, b.id AS other FROM accounts a LEFT JOIN (SELECT order_id, customer FROM orders WHERE order_id < 40) o ON a.owner = o.customer AND a.id < o.order_id
JOIN accounts b ON a.address.zip = b.address.zip;

-- query: changelog_first_of_each
SELECT owner, id, balance FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY owner ORDER BY balance DESC, id) AS place FROM accounts) WHERE place <= 2;

-- query: changelog_compared
SELECT address.zip AS n FROM accounts WHERE owner IN (SELECT customer FROM orders) EXCEPT SELECT quantity FROM events WHERE quantity % 3 = 0;

-- query: upserts_rows
SELECT id, owner, twice FROM profiles WHERE points > -40 AND id <> 7;

-- query: upserts_grouped
SELECT owner, COUNT(*) AS n, SUM(points) AS total, MAX(seq) AS latest FROM profiles GROUP BY owner;

-- query: upserts_joined
SELECT p.id, p.points, o.order_id, q.id AS other FROM profiles p LEFT JOIN (SELECT order_id, customer FROM orders WHERE order_id < 40) o
ON p.owner = o.customer AND p.id < o.order_id JOIN profiles q ON p.points = q.points AND p.id <= q.id;

-- query: changes_told_now_and_then
SELECT owner, balance FROM accounts WHERE balance > 0 EMIT AFTER DELAY INTERVAL '1' SECOND;
-- duckdb:
SELECT owner, balance FROM accounts WHERE balance > 0;

-- query: changelog_of_maxwell
SELECT id, owner, balance, opened, address.city AS city FROM accounts_of_maxwell WHERE id <> 3;

-- query: changelog_of_canal
SELECT owner, COUNT(*) AS n, SUM(balance) AS total, MAX(opened) AS latest, COUNT(DISTINCT address.zip) AS zips FROM accounts_of_canal GROUP BY owner;

-- query: scalar_of_rows_that_are_replaced
SELECT e.id, (SELECT a.owner FROM accounts AS a WHERE a.id = e.user_id) AS owner, (SELECT balance FROM accounts WHERE id = 7) AS balance,
(SELECT MAX(x.quantity) FROM events AS x GROUP BY x.id - x.id) AS most
FROM events AS e;

-- query: scalar_of_rows_that_a_condition_takes_back
SELECT e.id, (SELECT o.customer FROM orders AS o WHERE o.order_id = e.quantity AND o.order_id NOT IN (SELECT x.user_id FROM events AS x WHERE x.user_id > 9)) AS customer
FROM events AS e;
