-- error: origin does not belong here; write AND or OR between 5 and origin
-- at: origin
SELECT id FROM flights WHERE delay > 5 origin = 'JFK';
