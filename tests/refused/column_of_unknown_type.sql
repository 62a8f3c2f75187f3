-- error: there is no type NUMBRE; did you mean NUMERIC?
-- at: NUMBRE
CREATE TABLE t (a NUMBRE) WITH ('connector' = 'kafka');
SELECT a FROM t;
