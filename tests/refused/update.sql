-- error: UPDATE is not supported: write INSERT INTO a table with a PRIMARY KEY, whose rows replace each other
-- at: UPDATE
UPDATE words SET word = 'a';
