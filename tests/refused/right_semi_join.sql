-- error: RIGHT SEMI JOIN is not supported; write LEFT SEMI JOIN with the tables exchanged
-- at: words AS w ON f.origin = w.word
SELECT f.id FROM flights AS f RIGHT SEMI JOIN words AS w ON f.origin = w.word;
