-- error: there is no hint STREAMTABLE; the hints are PARALLELISM and GROUPING
-- at: STREAMTABLE(f)
SELECT /*+ STREAMTABLE(f) */ f.id FROM flights AS f JOIN words AS w ON f.origin = w.word;
