-- error: SELEC does not begin a statement; did you mean SELECT?
-- at: SELEC
SELEC word FROM words;
