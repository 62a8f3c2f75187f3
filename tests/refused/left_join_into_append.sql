-- error: out (kafka) only takes new rows, and a LEFT JOIN takes back that a row has no match when one comes; use an INNER JOIN, or declare PRIMARY KEY (...) NOT ENFORCED in CREATE TABLE out
-- at: out
CREATE TABLE a (k INT, v INT) WITH ('connector' = 'file', 'path' = 'a.csv');
CREATE TABLE out (k INT, v INT) WITH ('connector' = 'kafka');
INSERT INTO out SELECT a.k, b.v FROM a LEFT JOIN a AS b ON a.k = b.v;
