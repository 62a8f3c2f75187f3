-- error: 3 column names are given to 2 columns; name each column once
-- at: c
SELECT a FROM words AS w (a, b, c);
