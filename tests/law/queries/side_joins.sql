-- query: side_join_then_window
CREATE VIEW placed AS
SELECT /*+ BROADCAST(o) */ e.id, e.ts, e.quantity, o.customer FROM events AS e LEFT JOIN orders AS o ON e.user_id = o.order_id AND e.flag;
SELECT customer, window_start, COUNT(*) AS n, SUM(quantity) AS total
FROM TABLE(TUMBLE(TABLE placed, DESCRIPTOR(ts), INTERVAL '5' MINUTES)) GROUP BY customer, window_start, window_end;
-- duckdb:
SELECT o.customer, tumble(e.ts, INTERVAL 5 MINUTE) AS window_start, COUNT(*) AS n, SUM(e.quantity) AS total
FROM events e LEFT JOIN orders o ON e.user_id = o.order_id AND e.flag WHERE e.ts IS NOT NULL GROUP BY 1, 2;

-- query: side_join_of_what_changes
SELECT /*+ BROADCAST(w), MAPJOIN(o) */ a.q, a.n, w.word, o.customer FROM words AS w
JOIN (SELECT quantity AS q, COUNT(*) AS n FROM events GROUP BY quantity) AS a ON a.q = w.n AND LENGTH(w.word) < a.n
LEFT JOIN (SELECT order_id, UPPER(customer) AS customer FROM orders WHERE order_id < 40 UNION ALL SELECT 3, 'three') AS o ON o.order_id = a.n;

-- query: side_join_semi_and_every_row
SELECT /*+ BROADCAST(o), BROADCAST(w) */ e.id, w.word FROM events AS e LEFT SEMI JOIN orders AS o ON e.user_id = o.order_id
CROSS JOIN (SELECT word FROM words WHERE n = 3) AS w WHERE e.id < 300;
-- duckdb:
SELECT e.id, w.word FROM events AS e SEMI JOIN orders AS o ON e.user_id = o.order_id
CROSS JOIN (SELECT word FROM words WHERE n = 3) AS w WHERE e.id < 300;
