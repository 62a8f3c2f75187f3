-- error: WHEN needs a BOOLEAN, this is INT; write a comparison
-- at: delay
SELECT CASE WHEN delay THEN 1 END FROM flights;
