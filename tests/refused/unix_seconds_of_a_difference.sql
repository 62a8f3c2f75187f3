-- error: UNIX_SECONDS does not take INTERVAL DAY TO SECOND; write TIMESTAMPDIFF(SECOND, ts, shipped)
-- at: UNIX_SECONDS(shipped - ts)
CREATE TABLE orders (customer_id BIGINT, ts TIMESTAMP(3), shipped TIMESTAMP(3)) WITH ('connector' = 'datagen');
SELECT UNIX_SECONDS(shipped - ts) FROM orders;
