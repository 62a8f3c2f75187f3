-- error: the type SERIAL is not supported; write BIGINT; nothing numbers rows here
-- at: SERIAL
CREATE TABLE t (a SERIAL PRIMARY KEY) WITH ('connector' = 'print');
