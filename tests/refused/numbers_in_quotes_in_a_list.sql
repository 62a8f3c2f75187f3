-- error: IN does not take (INT, VARCHAR, VARCHAR); write delay IN (1, 2)
-- at: delay IN ('1', '2')
SELECT origin FROM flights WHERE delay IN ('1', '2');
