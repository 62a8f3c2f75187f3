-- error: g.ts is the time of the versions themselves; write the time of the row: FOR SYSTEM_TIME AS OF f.ts
-- at: g.ts
SELECT f.id, g.delay FROM flights AS f JOIN flights FOR SYSTEM_TIME AS OF g.ts AS g ON f.origin = g.origin;
