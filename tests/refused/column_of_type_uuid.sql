-- error: the type UUID is not supported; write STRING
-- at: UUID
CREATE TABLE t (a UUID) WITH ('connector' = 'kafka');
