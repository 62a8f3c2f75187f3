-- error: there is no hint STREAMTABLE; the hints are PARALLELISM, GROUPING, STATE_TTL and BROADCAST
-- at: STREAMTABLE(f)
SELECT /*+ STREAMTABLE(f) */ f.id FROM flights AS f JOIN words AS w ON f.origin = w.word;
