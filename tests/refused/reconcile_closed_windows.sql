-- error: 'yes' is neither true nor false; write 'closed-windows' = 'true'
-- at: 'closed-windows' = 'yes'
SELECT word FROM words;
RECONCILE result WITH ('closed-windows' = 'yes');
