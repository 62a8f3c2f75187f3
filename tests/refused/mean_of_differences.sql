-- error: AVG takes a number, not INTERVAL DAY TO SECOND; write AVG(TIMESTAMPDIFF(SECOND, ts, shipped))
-- at: AVG(shipped - ts)
CREATE TABLE orders (customer_id BIGINT, ts TIMESTAMP(3), shipped TIMESTAMP(3)) WITH ('connector' = 'datagen');
SELECT AVG(shipped - ts) FROM orders;
