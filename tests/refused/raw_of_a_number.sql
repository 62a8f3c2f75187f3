-- error: the format 'raw' holds the whole record as one column of type VARCHAR or BYTES, and there is a INT; declare one column, line VARCHAR, and take it apart or put it together in the query; or write 'format' = 'csv' or 'json'
-- at: a
CREATE TABLE r (a INT) WITH ('connector' = 'file', 'path' = 'x', 'format' = 'raw');
SELECT a FROM r;
