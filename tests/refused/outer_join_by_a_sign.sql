-- error: (+) is not supported; write a LEFT JOIN b ON a.k = b.k, where b is the table whose columns have the sign
-- at: (+)
SELECT f.id FROM flights AS f, words AS w WHERE f.origin = w.word(+);
