-- error: out (kafka) only takes new rows, and a row of OVER changes when others come; use OVER (ORDER BY the event time) with frames that look back, or a window of time, or declare PRIMARY KEY (...) NOT ENFORCED in CREATE TABLE out
-- at: out
CREATE TABLE a (k INT, v INT) WITH ('connector' = 'file', 'path' = 'a.csv');
CREATE TABLE out (k INT, v BIGINT) WITH ('connector' = 'kafka');
INSERT INTO out SELECT k, SUM(v) OVER (ORDER BY k) FROM a;
