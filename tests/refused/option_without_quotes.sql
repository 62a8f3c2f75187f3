-- error: / does not belong here; write the value in quotes: 'path' = 'data/f.csv'
-- at: /
CREATE TABLE f (a INT) WITH (connector=file, path=data/f.csv, format=csv);
SELECT a FROM f;
