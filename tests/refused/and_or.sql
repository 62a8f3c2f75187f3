-- error: OR does not belong here; write one of AND and OR
-- at: OR
SELECT origin FROM flights WHERE delay > 10 AND OR origin = 'JFK';
