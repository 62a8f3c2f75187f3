-- error: 'last Monday' is not a TIMESTAMP; write it like 2013-01-31 or 2013-01-31T23:59:59
-- at: TIMESTAMP 'last Monday'
SELECT id, ts FROM flights;
RECONCILE result BETWEEN TIMESTAMP 'last Monday' AND '2013-01-01';
