-- error: CASE has no END; write END behind its last value
-- at: 2
SELECT CASE WHEN n = 1 THEN 2 FROM words;
