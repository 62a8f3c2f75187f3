-- error: the format 'raw' holds the whole record as one column of type VARCHAR or BYTES, and there is b VARCHAR too; declare one column, line VARCHAR, and take it apart or put it together in the query; or write 'format' = 'csv' or 'json'
-- at: b
CREATE TABLE r (a VARCHAR, b VARCHAR) WITH ('connector' = 'file', 'path' = 'x', 'format' = 'raw');
SELECT a FROM r;
