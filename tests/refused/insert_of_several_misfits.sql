-- error: a is VARCHAR and o.x is BIGINT, b is VARCHAR and o.y is DATE; write CAST(a AS BIGINT) and CAST(b AS DATE)
-- at: a
CREATE TABLE f (a VARCHAR, b VARCHAR, n INT) WITH ('connector' = 'file', 'path' = 'f.csv', 'format' = 'csv');
CREATE TABLE o (x BIGINT, y DATE, n INT) WITH ('connector' = 'file', 'path' = 'o', 'format' = 'csv');
INSERT INTO o SELECT a, b, n FROM f;
