-- error: there is no function DATE_DIFF; write TIMESTAMPDIFF(HOUR, LAG(ts) OVER (ORDER BY ts), ts)
-- at: date_diff('hour', LAG(ts) OVER (ORDER BY ts), ts)
CREATE TABLE orders (customer_id BIGINT, ts TIMESTAMP(3), shipped TIMESTAMP(3)) WITH ('connector' = 'datagen');
SELECT date_diff('hour', LAG(ts) OVER (ORDER BY ts), ts) FROM orders;
