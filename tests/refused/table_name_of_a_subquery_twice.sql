-- error: the table name f is given more than once in this FROM; write AS f2
-- at: f
SELECT f.id FROM flights AS f JOIN (SELECT word FROM words) AS f ON origin = word;
