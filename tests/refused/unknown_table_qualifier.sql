-- error: there is no table or column x; there are words, word, n
-- at: x
SELECT x.word FROM words;
