-- error: IN (SELECT ...) is not supported yet: it is a join
-- at: origin
SELECT id FROM flights WHERE origin IN (SELECT word FROM words);
