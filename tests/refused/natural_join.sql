-- error: NATURAL JOIN is not supported: write JOIN ... USING (columns)
-- at: NATURAL
SELECT f.id FROM flights AS f NATURAL JOIN words AS w;
