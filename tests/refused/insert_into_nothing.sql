-- error: there is no table line; did you mean lines?
-- at: line
INSERT INTO line SELECT word, n FROM words;
