-- error: REPLACE INTO is not supported: write INSERT INTO a table with a PRIMARY KEY, whose rows replace each other
-- at: REPLACE INTO
REPLACE INTO counts SELECT word, n FROM words;
