-- question: What does each city spend?
SELECT city, COUNT(*), SUM(amount) FROM orders JOIN customers USING (customer_id) GROUP BY city;

-- question: Which two products of each category bring the most?
same;

-- question: What part of the revenue is each category's?
same;

-- question: How do I get a column for each category, and a row for all days?
same;

-- question: Which part of the customers came back within a day of their first order?
same;

-- question: What was the first order of each customer?
same;

-- question: Who has never ordered?
SELECT name, city FROM customers ANTI JOIN orders USING (customer_id);

-- question: Which customers spend more than the average customer?
same;

-- question: What is the median order, and what do the largest tenth cost at least?
SELECT MEDIAN(amount), QUANTILE_CONT(amount, 0.9) FROM orders;

-- question: What is the revenue of each day?
SELECT ts::DATE, COUNT(*), SUM(amount) FROM orders GROUP BY 1;

-- question: What is the revenue of each day in Berlin's time?
SELECT (ts + INTERVAL 1 HOUR + CASE WHEN ts >= TIMESTAMP '2026-03-29 01:00' THEN INTERVAL 1 HOUR ELSE INTERVAL 0 HOUR END)::DATE, COUNT(*), SUM(amount)
FROM orders GROUP BY 1;

-- question: What is the running total?
same;

-- question: What is the moving average of the last three orders?
same;

-- question: What did each customer spend in the last 24 hours?
same;

-- question: Which clicks came within an hour before an order?
same;

-- question: Which carts were left behind?
SELECT DISTINCT customer_id, ts FROM clicks AS c
WHERE page = 'cart' AND NOT EXISTS (FROM orders AS o WHERE o.customer_id = c.customer_id AND o.ts BETWEEN c.ts AND c.ts + INTERVAL '1' HOUR);

-- question: What was the price when it was ordered?
SELECT o.order_id, o.ts, o.quantity, p.price, o.quantity * p.price, o.amount
FROM orders AS o ASOF JOIN prices AS p ON o.product_id = p.product_id AND o.ts >= p.ts
WHERE o.product_id IN (1, 3) AND o.ts >= TIMESTAMP '2026-03-28 12:00:00';

-- question: How many visitors reach each step of the funnel: page, product, cart, order?
same;

-- question: How do I leave out clicks that were sent twice?
SELECT DISTINCT click_id, ts, customer_id, page FROM clicks WHERE customer_id IN (3, 6);

-- question: Which orders are more than three times as large as the ten before?
same;

-- question: Which were the worst days?
SELECT ts::DATE, COUNT(*), COUNT(*) - COUNT(dep_delay) AS cancelled, ROUND(AVG(dep_delay), 1)
FROM flights GROUP BY 1 ORDER BY cancelled DESC LIMIT 3;

-- question: Which two airlines are late most often at each airport?
same;

-- question: Do flights leave later when the wind blows?
SELECT CAST(FLOOR(w.wind_speed / 10) AS INT) * 10, COUNT(*), ROUND(AVG(f.dep_delay), 1)
FROM flights AS f ASOF JOIN weather AS w ON f.origin = w.origin AND f.ts >= w.ts
WHERE f.ts < TIMESTAMP '2013-04-01 00:00:00' GROUP BY 1;

-- question: What is the running total of each day?
same;

-- question: Which days had no orders?
SELECT d.day, COUNT(o.order_id) FROM (SELECT UNNEST(GENERATE_SERIES(DATE '2026-03-25', DATE '2026-03-31', INTERVAL 1 DAY))::DATE AS day) AS d
LEFT JOIN orders AS o ON o.ts::DATE = d.day GROUP BY d.day;
