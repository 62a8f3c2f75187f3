-- error: there is no column colour in w; there are word, n
-- at: colour
SELECT (SELECT MAX(n) FROM words AS w WHERE w.n = colour) FROM flights AS f;
