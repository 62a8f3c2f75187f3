-- error: PARTITIONED BY names hours, and the table declares no such column; did you mean hour?
-- at: hours
CREATE TABLE w (a INT, hour INT) PARTITIONED BY (hours) WITH ('connector' = 'file', 'path' = 'w', 'format' = 'csv');
SELECT * FROM w;
