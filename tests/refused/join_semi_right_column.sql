-- error: there is no table or column w
-- at: w
SELECT f.id, w.word FROM flights AS f LEFT SEMI JOIN words AS w ON f.origin = w.word;
