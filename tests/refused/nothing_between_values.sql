-- error: 2 does not belong here; write an operator or a comma between delay and 2
-- at: 2
SELECT ROUND(delay 2) AS n FROM flights;
