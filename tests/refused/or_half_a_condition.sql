-- error: BOOLEAN OR VARCHAR is not possible; write a whole condition behind OR: origin = 'LGA', or origin IN (...)
-- at: origin = 'JFK' OR 'LGA'
SELECT id FROM flights WHERE origin = 'JFK' OR 'LGA';
