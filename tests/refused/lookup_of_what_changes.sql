-- error: a join by the clock of rows that change is not supported: a row that is taken back would be asked for again, and may be answered otherwise than when it came; join before they are aggregated
-- at: f.origin = a.code
CREATE TABLE flights (id INT, origin STRING) WITH ('connector' = 'file', 'path' = 'f.csv');
CREATE TABLE airports (code STRING, city STRING, PRIMARY KEY (code) NOT ENFORCED) WITH ('connector' = 'redis-table');
SELECT f.n FROM (SELECT origin, COUNT(*) AS n FROM flights GROUP BY origin) AS f
JOIN airports FOR SYSTEM_TIME AS OF PROCTIME() AS a ON f.origin = a.code;
