-- error: BROADCAST(e) is not supported: each task would read it whole, and endless never ends; leave the hint out, and rows of both tables go to the task of their key
-- at: e
CREATE TABLE flights (id INT, origin STRING) WITH ('connector' = 'file', 'path' = 'f.csv');
CREATE TABLE endless (origin STRING) WITH ('connector' = 'file', 'path' = 'e.csv', 'follow' = 'true');
SELECT /*+ BROADCAST(e) */ f.id FROM flights AS f JOIN endless AS e ON f.origin = e.origin;
