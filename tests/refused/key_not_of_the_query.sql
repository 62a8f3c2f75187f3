-- error: the query has a row for each (origin, carrier), and PRIMARY KEY (origin) of target does not tell them apart; declare PRIMARY KEY (origin, carrier) NOT ENFORCED
-- at: target
CREATE TABLE flights (origin STRING, carrier STRING) WITH ('connector' = 'datagen');
CREATE TABLE target (origin STRING, carrier STRING, n BIGINT, PRIMARY KEY (origin) NOT ENFORCED) WITH ('connector' = 'cache');
INSERT INTO target SELECT origin, carrier, COUNT(*) FROM flights GROUP BY origin, carrier;
