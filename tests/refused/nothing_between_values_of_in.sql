-- error: 2 does not belong here; write an operator or a comma between 1 and 2
-- at: 2
SELECT id FROM flights WHERE delay IN (1 2);
