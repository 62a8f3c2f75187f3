-- error: the option 'report' is given twice; keep one
-- at: 'report' = 'b'
SELECT word FROM words;
RECONCILE result WITH ('report' = 'a', 'report' = 'b');
