-- error: UNION puts word VARCHAR above late BOOLEAN; CAST one of them, or put the columns in one order
-- at: late FROM flights
SELECT word FROM words UNION ALL SELECT late FROM flights;
