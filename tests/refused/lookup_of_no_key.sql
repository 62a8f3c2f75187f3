-- error: airports is asked by its key, and ON compares none; write ON a.key = airports.code, of the type of code
-- at: f.origin = a.city
CREATE TABLE flights (id INT, origin STRING, now AS PROCTIME()) WITH ('connector' = 'file', 'path' = 'f.csv');
CREATE TABLE airports (code STRING, city STRING, PRIMARY KEY (code) NOT ENFORCED) WITH ('connector' = 'redis-table');
SELECT f.id FROM flights AS f JOIN airports FOR SYSTEM_TIME AS OF f.now AS a ON f.origin = a.city;
