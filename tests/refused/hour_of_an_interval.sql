-- error: EXTRACT takes a time, not INTERVAL DAY TO SECOND; write UNIX_SECONDS(TIMESTAMP '1970-01-01 00:00:00' + gap) for its seconds
-- at: EXTRACT(HOUR FROM gap)
CREATE TABLE orders (customer_id BIGINT, ts TIMESTAMP(3), shipped TIMESTAMP(3)) WITH ('connector' = 'datagen');
SELECT EXTRACT(HOUR FROM gap) FROM (SELECT shipped - ts AS gap FROM orders);
