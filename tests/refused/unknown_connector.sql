-- error: there is no connector 'kafak'; did you mean kafka?
-- at: 'connector' = 'kafak'
CREATE TABLE t (a INT) WITH ('connector' = 'kafak');
SELECT a FROM t;
