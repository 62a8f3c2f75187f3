-- error: RECONCILE has no option 'tolerence'; did you mean tolerance?
-- at: 'tolerence' = '1e-9'
SELECT word FROM words;
RECONCILE result WITH ('tolerence' = '1e-9');
