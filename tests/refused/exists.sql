-- error: EXISTS (write LEFT SEMI JOIN or LEFT ANTI JOIN) is not supported
-- at: 1 FROM words
SELECT id FROM flights WHERE EXISTS (SELECT 1 FROM words);
