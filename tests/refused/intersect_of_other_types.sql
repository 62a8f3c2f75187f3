-- error: INTERSECT puts VARCHAR above BOOLEAN; CAST one of them
-- at: late FROM flights
SELECT origin FROM flights INTERSECT SELECT late FROM flights;
