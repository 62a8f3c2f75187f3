-- error: 'yesterday' is not a TIMESTAMP; write it like '2013-01-31 12:30:00'
-- at: ts >= 'yesterday'
SELECT * FROM flights WHERE ts >= 'yesterday';
