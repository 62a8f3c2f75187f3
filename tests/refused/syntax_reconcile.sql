-- error: WITH does not belong here; expected AND
-- at: WITH
SELECT id, ts FROM flights;
RECONCILE result BETWEEN '2013-01-02' WITH ('tolerance' = '0');
