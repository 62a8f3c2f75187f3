-- error: the option 'partition.by' is given twice; keep one
-- at: 'partition.by' = 'a'
CREATE TABLE w (a INT) PARTITIONED BY (a) WITH ('connector' = 'file', 'path' = 'w', 'format' = 'csv', 'partition.by' = 'a');
SELECT * FROM w;
