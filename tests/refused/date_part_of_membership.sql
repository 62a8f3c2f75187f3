-- error: there is no function DATE_PART; write EXTRACT(HOUR FROM customer_id IN (1, 2))
-- at: date_part('hour', customer_id IN (1, 2))
CREATE TABLE orders (customer_id BIGINT, ts TIMESTAMP(3), shipped TIMESTAMP(3)) WITH ('connector' = 'datagen');
SELECT date_part('hour', customer_id IN (1, 2)) FROM orders;
