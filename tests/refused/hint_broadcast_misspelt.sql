-- error: BROADCAST(wrds) names no table that is joined in this statement; write BROADCAST(w)
-- at: wrds
SELECT /*+ BROADCAST(wrds) */ f.id FROM flights AS f JOIN words AS w ON f.origin = w.word;
