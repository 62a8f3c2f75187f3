-- error: nothing follows this comma; remove it
-- at: ,
SELECT word,, n FROM words;
