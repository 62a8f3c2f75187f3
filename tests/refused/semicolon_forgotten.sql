-- error: a ; is missing before SELECT
-- at: SELECT
CREATE TABLE x (id BIGINT) WITH ('connector' = 'file', 'path' = 'x')
SELECT * FROM x;
