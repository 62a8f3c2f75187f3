-- error: EXISTS (a join) is not supported
-- at: 1 FROM words
SELECT id FROM flights WHERE EXISTS (SELECT 1 FROM words);
