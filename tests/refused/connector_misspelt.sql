-- error: there is no option 'conector'; did you mean 'connector'?
-- at: 'conector' = 'file'
CREATE TABLE f (a INT) WITH ('conector' = 'file', 'path' = 'f', 'format' = 'csv');
SELECT a FROM f;
