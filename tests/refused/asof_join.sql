-- error: ASOF JOIN is not supported yet
-- at: ASOF
SELECT f.id FROM flights AS f ASOF JOIN words AS w ON f.origin = w.word;
