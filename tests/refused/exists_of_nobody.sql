-- error: there is no column colour in w; there are word, n
-- at: colour
SELECT id FROM flights AS f WHERE EXISTS (SELECT 1 FROM words AS w WHERE w.n = colour);
