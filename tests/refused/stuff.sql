-- error: there is no function STUFF; write OVERLAY(origin PLACING 'x' FROM 1 FOR 1)
-- at: STUFF(origin, 1, 1, 'x')
SELECT STUFF(origin, 1, 1, 'x') FROM flights;
