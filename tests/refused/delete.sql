-- error: DELETE is not supported: write INSERT INTO a table with a PRIMARY KEY; rows that the query takes back go
-- at: DELETE
DELETE FROM words WHERE word = 'a';
