-- error: the hint BROADCAST is not supported; leave it out: rows of both inputs go to the task of their key, where both are kept, and there is no other way to join
-- at: BROADCAST(w)
SELECT /*+ BROADCAST(w) */ f.id FROM flights AS f JOIN words AS w ON f.origin = w.word;
