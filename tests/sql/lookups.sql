CREATE TABLE clicks (origin STRING, town STRING, delay INT, now AS PROCTIME()) WITH ('connector' = 'file', 'path' = 'clicks.csv');
CREATE TABLE airports (code STRING, city STRING, PRIMARY KEY (code) NOT ENFORCED) WITH ('connector' = 'redis-table', 'key.fields' = 'code');

-- asked by the one key: what WHERE compares is a filter above it
SELECT c.delay, a.city FROM clicks AS c JOIN airports FOR SYSTEM_TIME AS OF c.now AS a ON c.origin = a.code WHERE c.town = a.city;
