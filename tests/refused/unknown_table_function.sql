-- error: SLIDE is not a table function; the table functions are TUMBLE and HOP
-- at: SLIDE(words, n)
SELECT word FROM SLIDE(words, n);
