-- error: a join as of a time compares two times; write a ASOF JOIN b ON a.k = b.k AND a.ts >= b.ts
-- at: f.origin = w.word
SELECT f.id FROM flights AS f ASOF JOIN words AS w ON f.origin = w.word;
