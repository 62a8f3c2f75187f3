-- error: lines takes no column m; there are word, n
-- at: m
INSERT INTO lines (word, m) SELECT word, n FROM words;
