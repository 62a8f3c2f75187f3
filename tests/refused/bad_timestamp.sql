-- error: 'yesterday' is not a TIMESTAMP; write it like TIMESTAMP '2013-01-31 23:59:59'
-- at: TIMESTAMP 'yesterday'
SELECT TIMESTAMP 'yesterday' FROM flights;
