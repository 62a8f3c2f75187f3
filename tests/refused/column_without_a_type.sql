-- error: the column a has no type; write a STRING
-- at: a
CREATE TABLE t (a, b) WITH ('connector' = 'print');
