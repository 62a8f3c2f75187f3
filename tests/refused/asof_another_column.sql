-- error: a.delay is not event time, which says when all versions have come; compare a.ts
-- at: a.delay >= b.delay
SELECT a.id FROM flights AS a ASOF JOIN flights AS b ON a.delay >= b.delay;
