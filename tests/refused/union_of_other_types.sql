-- error: UNION puts VARCHAR above BOOLEAN; CAST one of them
-- at: late FROM flights
SELECT word FROM words UNION ALL SELECT late FROM flights;
