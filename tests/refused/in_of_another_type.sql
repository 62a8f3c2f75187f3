-- error: IN compares ARRAY<VARCHAR> and VARCHAR; CAST one of them
-- at: tags IN (SELECT word FROM words
SELECT id FROM flights WHERE tags IN (SELECT word FROM words);
