-- error: a FULL JOIN by the clock is not supported; write JOIN or LEFT JOIN
-- at: f.origin = a.code
CREATE TABLE flights (id INT, origin STRING) WITH ('connector' = 'file', 'path' = 'f.csv');
CREATE TABLE airports (code STRING, city STRING, PRIMARY KEY (code) NOT ENFORCED) WITH ('connector' = 'redis-table');
SELECT f.id FROM flights AS f FULL JOIN airports FOR SYSTEM_TIME AS OF PROCTIME() AS a ON f.origin = a.code;
