-- error: a key that is forgotten (STATE_TTL) begins anew with another row, and PRIMARY KEY (origin) of counts does not tell the two apart; GROUP BY SESSION(ts, INTERVAL '86400' SECOND) too, EMIT CHANGES, and take SESSION_START(ts, INTERVAL '86400' SECOND) into the PRIMARY KEY; or insert into a table that takes changes
-- at: counts
CREATE TABLE flights (origin STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');
CREATE TABLE counts (origin STRING, n BIGINT, PRIMARY KEY (origin) NOT ENFORCED) WITH ('connector' = 'kafka');
SET 'state.ttl' = '1 day';
INSERT INTO counts SELECT origin, COUNT(*) FROM flights GROUP BY origin;
