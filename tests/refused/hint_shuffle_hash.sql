-- error: the hint SHUFFLE_HASH is not supported; leave it out: rows of both inputs go to the task of their key, or each task reads a small table whole, as BROADCAST says
-- at: SHUFFLE_HASH(w)
SELECT /*+ SHUFFLE_HASH(w) */ f.id FROM flights AS f JOIN words AS w ON f.origin = w.word;
