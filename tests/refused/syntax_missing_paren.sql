-- error: a ) is missing
-- at: FROM
SELECT UPPER(word FROM words;
