-- error: BROADCAST(words) names no table that is joined in this statement; write BROADCAST(w)
-- at: words
SELECT /*+ BROADCAST(words) */ f.id FROM flights AS f JOIN words AS w ON f.origin = w.word;
