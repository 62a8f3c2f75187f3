-- error: there is no table or column x; the table is called words here: write words.word
-- at: x
SELECT x.word FROM words;
