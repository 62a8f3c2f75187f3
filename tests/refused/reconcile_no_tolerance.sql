-- error: 'loose' is no tolerance; write 'tolerance' = '1e-9'
-- at: 'tolerance' = 'loose'
SELECT word FROM words;
RECONCILE result WITH ('tolerance' = 'loose');
