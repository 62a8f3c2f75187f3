-- error: INTERSECT is not supported yet
-- at: INTERSECT
SELECT word FROM words INTERSECT SELECT origin FROM flights;
