-- error: IN compares with 2 columns, and this subquery gives 1; select 2
-- at: word FROM words
SELECT id FROM flights WHERE (origin, carrier) NOT IN (SELECT word FROM words);
