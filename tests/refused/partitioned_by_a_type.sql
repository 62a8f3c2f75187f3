-- error: DATE does not belong here; expected ) or ,
-- at: DATE
CREATE TABLE w (a INT) PARTITIONED BY (day DATE) WITH ('connector' = 'file', 'path' = 'w', 'format' = 'csv');
SELECT * FROM w;
