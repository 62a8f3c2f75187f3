-- error: the connector kafka has no metadata 'ofset'; did you mean offset?
-- at: o
CREATE TABLE t (a INT, o BIGINT METADATA FROM 'ofset') WITH ('connector' = 'kafka');
SELECT a FROM t;
