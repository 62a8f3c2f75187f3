-- error: IN (SELECT ...) inside another expression than AND and OR is not supported; write [NOT] EXISTS (SELECT ... WHERE a = b), which is never unknown
-- at: origin IN (SELECT word FROM words
SELECT id FROM flights WHERE late OR NOT origin IN (SELECT word FROM words);
