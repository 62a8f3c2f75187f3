-- error: the table name C is given more than once in this FROM; write words AS C2
-- at: C
SELECT f.id FROM flights AS f JOIN flights AS c ON f.id = c.id JOIN words AS C ON f.origin = c.word;
