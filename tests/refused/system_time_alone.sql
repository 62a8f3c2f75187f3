-- error: FOR SYSTEM_TIME AS OF belongs to a table that is joined to another; write a JOIN b FOR SYSTEM_TIME AS OF a.ts ON a.k = b.k
-- at: flights FOR SYSTEM_TIME AS OF f.ts AS f
SELECT f.id FROM flights FOR SYSTEM_TIME AS OF f.ts AS f;
