-- error: n is neither in GROUP BY nor inside an aggregate; add n to GROUP BY word, or aggregate it: MAX(n)
-- at: w.*
SELECT COUNT(*) AS many, w.* FROM words AS w GROUP BY word;
