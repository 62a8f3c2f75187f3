-- error: there is no column proctime in f; write the time of the row: f.ts
-- at: proctime
SELECT f.id FROM flights AS f JOIN flights FOR SYSTEM_TIME AS OF f.proctime AS w ON f.origin = w.origin;
