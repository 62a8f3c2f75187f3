-- error: nothing follows this comma; remove it
-- at: ,
SELECT word, FROM words;
