-- error: SLIDE is not a table function; the table functions are TUMBLE, HOP, CUMULATE and SESSION
-- at: SLIDE(words, n)
SELECT word FROM SLIDE(words, n);
