-- error: a subquery as a value of rows that change is not supported here: orders never ends, and for a moment there may be several; select an aggregate without GROUP BY, as MAX(column), or compare a key of its rows with =
-- at: MAX(id) FROM orders GROUP BY kind
CREATE TABLE orders (id BIGINT, kind VARCHAR) WITH ('connector' = 'file', 'path' = 'orders.csv', 'follow' = 'true');
SELECT (SELECT MAX(id) FROM orders GROUP BY kind) AS most FROM orders;
