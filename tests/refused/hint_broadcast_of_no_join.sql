-- error: BROADCAST(words) names no table that is joined in this statement; name a table of the JOIN, by its alias if it has one
-- at: words
SELECT /*+ BROADCAST(words) */ f.id FROM flights AS f JOIN words AS w ON f.origin = w.word;
