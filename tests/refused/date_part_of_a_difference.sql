-- error: there is no function DATE_PART; write TIMESTAMPDIFF(HOUR, LAG(ts) OVER (PARTITION BY customer_id ORDER BY ts), ts)
-- at: date_part('hour', ts - LAG(ts) OVER (PARTITION BY customer_id ORDER BY ts))
CREATE TABLE orders (customer_id BIGINT, ts TIMESTAMP(3), shipped TIMESTAMP(3)) WITH ('connector' = 'datagen');
SELECT date_part('hour', ts - LAG(ts) OVER (PARTITION BY customer_id ORDER BY ts)) FROM orders;
