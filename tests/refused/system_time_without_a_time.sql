-- error: FOR SYSTEM_TIME lacks its time; write FOR SYSTEM_TIME AS OF a.ts
-- at: flights FOR SYSTEM_TIME AS w
SELECT f.id FROM flights AS f JOIN flights FOR SYSTEM_TIME AS w ON f.origin = w.origin;
