-- error: EXTRACT takes a time, not INTERVAL DAY TO SECOND; write TIMESTAMPDIFF(SECOND, ts, shipped)
-- at: EXTRACT(EPOCH FROM shipped - ts)
CREATE TABLE orders (customer_id BIGINT, ts TIMESTAMP(3), shipped TIMESTAMP(3)) WITH ('connector' = 'datagen');
SELECT EXTRACT(EPOCH FROM shipped - ts) FROM orders;
