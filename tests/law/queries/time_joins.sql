-- query: interval_join
SELECT e.id, o.order_id, e.ts, o.customer FROM events e, orders o
WHERE e.quantity = o.order_id AND e.ts BETWEEN o.ts - INTERVAL '10' MINUTE AND o.ts + INTERVAL '5' MINUTE AND e.kind IS NOT NULL;

-- query: interval_join_left_then_window
CREATE VIEW pairs AS SELECT e.id, e.ts, o.order_id AS other FROM events e
LEFT JOIN orders o ON e.quantity = o.order_id AND e.ts >= o.ts AND e.ts < o.ts + INTERVAL '20' MINUTE;
SELECT window_start, COUNT(*) AS n, COUNT(other) AS matched FROM TABLE(TUMBLE(TABLE pairs, DESCRIPTOR(ts), INTERVAL '2' MINUTE))
GROUP BY window_start, window_end;
-- duckdb:
SELECT tumble(e.ts, INTERVAL 2 MINUTE) AS window_start, COUNT(*) AS n, COUNT(o.order_id) AS matched
FROM events e LEFT JOIN orders o ON e.quantity = o.order_id AND e.ts >= o.ts AND e.ts < o.ts + INTERVAL 20 MINUTE GROUP BY 1;

-- query: interval_join_full
SELECT a.id AS one, b.id AS other FROM (SELECT * FROM events WHERE quantity < 4) a FULL JOIN (SELECT * FROM events WHERE quantity > 15) b
ON a.user_id = b.user_id AND a.kind = b.kind AND b.ts - a.ts BETWEEN INTERVAL '0' SECOND AND INTERVAL '40' SECOND AND a.id < b.id;

-- query: interval_join_semi_and_anti
SELECT e.id, e.ts FROM events e LEFT SEMI JOIN orders o ON e.user_id = o.order_id AND o.ts BETWEEN e.ts - INTERVAL '30' MINUTE AND e.ts + INTERVAL '30' MINUTE
LEFT ANTI JOIN events x ON e.kind = x.kind AND x.ts > e.ts AND x.ts <= e.ts + INTERVAL '10' SECOND;
-- duckdb:
SELECT e.id, e.ts FROM events e SEMI JOIN orders o ON e.user_id = o.order_id AND o.ts BETWEEN e.ts - INTERVAL 30 MINUTE AND e.ts + INTERVAL 30 MINUTE
ANTI JOIN events x ON e.kind = x.kind AND x.ts > e.ts AND x.ts <= e.ts + INTERVAL 10 SECOND;

-- query: window_join_right
SELECT l.id, r.order_id, r.window_start, r.window_end
FROM (SELECT * FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '5' MINUTES)) WHERE quantity > 12) l
RIGHT JOIN (SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '5' MINUTES))) r
ON l.user_id = r.order_id AND l.window_start = r.window_start AND l.window_end = r.window_end;
-- duckdb:
SELECT l.id, r.order_id, r.s AS window_start, r.s + INTERVAL 5 MINUTE AS window_end
FROM (SELECT *, tumble(ts, INTERVAL 5 MINUTE) AS s FROM events WHERE quantity > 12) l
RIGHT JOIN (SELECT *, tumble(ts, INTERVAL 5 MINUTE) AS s FROM orders) r ON l.user_id = r.order_id AND l.s = r.s;

-- query: window_join_then_window
SELECT l.window_end, COUNT(*) AS n, SUM(l.quantity) AS total
FROM TABLE(HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '2' MINUTES, INTERVAL '4' MINUTES)) l
JOIN TABLE(HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '2' MINUTES, INTERVAL '4' MINUTES)) r
ON l.quantity = r.order_id % 20 AND l.window_start = r.window_start AND l.window_end = r.window_end
GROUP BY l.window_start, l.window_end;
-- duckdb:
WITH l AS (SELECT quantity, t - INTERVAL 2 MINUTE * i AS s FROM (SELECT *, tumble(ts, INTERVAL 2 MINUTE) AS t FROM events), range(0, 2) AS n (i)),
r AS (SELECT order_id, t - INTERVAL 2 MINUTE * i AS s FROM (SELECT *, tumble(ts, INTERVAL 2 MINUTE) AS t FROM orders), range(0, 2) AS n (i))
SELECT l.s + INTERVAL 4 MINUTE AS window_end, COUNT(*) AS n, SUM(l.quantity) AS total FROM l JOIN r ON l.quantity = r.order_id % 20 AND l.s = r.s GROUP BY 1;

-- query: windows_joined_by_their_start
CREATE VIEW a AS SELECT window_start AS s, kind, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTES)) GROUP BY window_start, window_end, kind;
CREATE VIEW b AS SELECT window_start AS s, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTES)) GROUP BY window_start, window_end;
SELECT a.s, a.kind, a.n, b.n AS orders FROM a LEFT JOIN b ON a.s = b.s AND a.n < b.n;
-- duckdb:
WITH a AS (SELECT tumble(ts, INTERVAL 1 MINUTE) AS s, kind, COUNT(*) AS n FROM events GROUP BY 1, 2),
b AS (SELECT tumble(ts, INTERVAL 1 MINUTE) AS s, COUNT(*) AS n FROM orders GROUP BY 1)
SELECT a.s, a.kind, a.n, b.n AS orders FROM a LEFT JOIN b ON a.s = b.s AND a.n < b.n;

-- query: asof_join
SELECT e.id, e.ts, o.version, o.is_row FROM events e ASOF JOIN (SELECT order_id AS version, total AS is_row, ts, order_id % 20 AS k FROM orders) o
ON e.quantity = o.k AND e.ts >= o.ts;

-- query: asof_left_join_strictly_before
SELECT e.id, x.id AS before FROM events e ASOF LEFT JOIN events x ON e.kind = x.kind AND e.ts > x.ts;
-- duckdb:
SELECT e.id, MAX(x.id) AS before FROM events e LEFT JOIN events x ON e.kind = x.kind AND x.ts = (SELECT MAX(y.ts) FROM events y WHERE y.kind = e.kind AND y.ts < e.ts)
GROUP BY e.id;

-- query: asof_join_then_equality
SELECT e.id, r.quantity FROM events e ASOF JOIN events r ON e.user_id = r.user_id AND e.ts > r.ts WHERE e.quantity = r.quantity;
-- duckdb:
SELECT id, last.quantity FROM (
  SELECT e.id, e.quantity, (SELECT arg_max(r, (r.ts, r.id)) FROM events r WHERE r.user_id = e.user_id AND r.ts < e.ts) AS last FROM events e
) WHERE quantity = last.quantity;

-- query: asof_match_condition
SELECT e.id, o.customer FROM events e ASOF JOIN orders o MATCH_CONDITION (e.ts >= o.ts) ON e.user_id = o.order_id;
-- duckdb:
SELECT e.id, o.customer FROM events e ASOF LEFT JOIN orders o ON e.ts >= o.ts AND e.user_id = o.order_id;

-- query: temporal_join_then_window
CREATE VIEW rates AS SELECT CONCAT('s', CAST(order_id % 9 AS STRING)) AS currency, total AS rate, ts FROM orders;
CREATE VIEW converted AS
SELECT e.id, e.ts, e.quantity * r.rate AS worth FROM (SELECT *, CONCAT('s', CAST(quantity % 10 AS STRING)) AS currency FROM events) AS e
LEFT JOIN rates FOR SYSTEM_TIME AS OF e.ts AS r ON e.currency = r.currency;
SELECT window_start, COUNT(*) AS n, COUNT(worth) AS known, SUM(worth) AS total
FROM TABLE(TUMBLE(TABLE converted, DESCRIPTOR(ts), INTERVAL '5' MINUTES)) GROUP BY window_start, window_end;
-- duckdb:
WITH rates AS (SELECT 's' || (order_id % 9) AS currency, total AS rate, ts FROM orders)
SELECT tumble(e.ts, INTERVAL 5 MINUTE) AS window_start, COUNT(*) AS n, COUNT(r.rate) AS known, SUM(e.quantity * r.rate) AS total
FROM (SELECT *, 's' || (quantity % 10) AS currency FROM events) e ASOF LEFT JOIN rates r ON e.currency = r.currency AND e.ts >= r.ts GROUP BY 1;

-- query: joined_while_kept
SELECT /*+ STATE_TTL('a' = '3s', 'b' = '1 min') */ a.id, b.order_id FROM events AS a LEFT JOIN orders AS b ON a.user_id = b.address.zip;
-- duckdb:
SELECT a.id, b.order_id FROM events AS a LEFT JOIN orders AS b ON a.user_id = b.address.zip
AND b.ts <= a.ts + INTERVAL 3 SECOND AND a.ts <= b.ts + INTERVAL 1 MINUTE;
