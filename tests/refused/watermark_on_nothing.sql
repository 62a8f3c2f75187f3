-- error: there is no column tz in t; there is ts
-- at: tz
CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR tz AS tz) WITH ('connector' = 'kafka');
SELECT ts FROM t;
