-- error: GENERATED in a CREATE TABLE is not supported; write name AS expression for a computed column
-- at: GENERATED
CREATE TABLE t (a INT GENERATED ALWAYS AS IDENTITY) WITH ('connector' = 'print');
