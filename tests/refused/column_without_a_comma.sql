-- error: b does not belong to the type INT; if b is another column write a comma before it
-- at: b
CREATE TABLE t (a INT b STRING) WITH ('connector' = 'print');
