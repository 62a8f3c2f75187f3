-- error: BROADCAST(w) is not supported: of a FULL JOIN no task knows which of its rows have met nothing in any other; write JOIN or LEFT JOIN, with the table on the right, or leave the hint out
-- at: w
SELECT /*+ BROADCAST(w) */ f.id FROM flights AS f FULL JOIN words AS w ON f.origin = w.word;
