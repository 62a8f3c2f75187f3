-- error: CASE has no END
-- at: 2
SELECT CASE WHEN n = 1 THEN 2 FROM words;
