-- error: ENGINE does not belong here; where the rows are is said by WITH: WITH ('connector' = 'file', 'path' = 'data.csv', 'format' = 'csv')
-- at: ENGINE
CREATE TABLE f (a INT) ENGINE = MergeTree ORDER BY a;
SELECT a FROM f;
