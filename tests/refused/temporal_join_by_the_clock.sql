-- error: a join by the clock with w is not supported: it is no table that can be asked by key; join a table that stands still with /*+ BROADCAST(w) */, versions by event time with FOR SYSTEM_TIME AS OF a.ts
-- at: PROCTIME()
SELECT f.id FROM flights AS f JOIN flights FOR SYSTEM_TIME AS OF PROCTIME() AS w ON f.origin = w.origin;
