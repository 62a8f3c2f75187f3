-- error: there is no column behind this comma; remove the comma
-- at: ,
CREATE TABLE t (a ROW<x INT, y STRING>, b DECIMAL(10, 2),) WITH ('connector' = 'print');
