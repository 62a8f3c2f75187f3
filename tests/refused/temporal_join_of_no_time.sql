-- error: w has no event time, so it has no versions; give it a WATERMARK FOR its time
-- at: f.ts
SELECT f.id FROM flights AS f JOIN words FOR SYSTEM_TIME AS OF f.ts AS w ON f.origin = w.word;
