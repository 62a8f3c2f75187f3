-- error: INTERVAL DAY TO SECOND / INT is not possible; write TIMESTAMPDIFF(SECOND, ts, shipped) / 3600
-- at: (shipped - ts) / 3600
CREATE TABLE orders (customer_id BIGINT, ts TIMESTAMP(3), shipped TIMESTAMP(3)) WITH ('connector' = 'datagen');
SELECT (shipped - ts) / 3600 FROM orders;
