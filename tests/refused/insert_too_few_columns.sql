-- error: the query gives 1 column and lines takes 2 columns; select (word, n)
-- at: lines
INSERT INTO lines SELECT word FROM words;
