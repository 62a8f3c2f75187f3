-- error: INTERSECT puts origin VARCHAR above late BOOLEAN; CAST one of them, or put the columns in one order
-- at: late FROM flights
SELECT origin FROM flights INTERSECT SELECT late FROM flights;
