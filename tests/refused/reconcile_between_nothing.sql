-- error: no time lies between these two; write the earlier one first; the second is not in it
-- at: '2013-01-01'
SELECT id, ts FROM flights;
RECONCILE result BETWEEN '2013-01-02' AND '2013-01-01';
