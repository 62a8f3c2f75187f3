-- error: there is no column Word in words; did you mean word?
-- at: "Word"
SELECT "Word" FROM words;
