-- error: there is no function UPPERR; did you mean UPPER?
-- at: UPPERR(word)
SELECT UPPERR(word) FROM words;
