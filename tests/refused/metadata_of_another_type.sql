-- error: the metadata 'offset' is BIGINT, not VARCHAR; declare o BIGINT METADATA
-- at: STRING
CREATE TABLE t (a INT, o STRING METADATA FROM 'offset') WITH ('connector' = 'kafka');
SELECT a FROM t;
