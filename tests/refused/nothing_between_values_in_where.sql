-- error: 5 does not belong here; write an operator or a comma between delay and 5
-- at: 5
SELECT id FROM flights WHERE id > 1 AND COALESCE(delay 5) = 1;
