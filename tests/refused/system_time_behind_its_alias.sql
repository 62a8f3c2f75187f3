-- error: FOR does not belong here; it stands before the alias: write words FOR SYSTEM_TIME AS OF time AS w
-- at: FOR
SELECT f.id FROM flights AS f JOIN words AS w FOR SYSTEM_TIME AS OF f.ts ON f.origin = w.word;
