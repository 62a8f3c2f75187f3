-- error: '31.12.2013' is not a DATE; write it like DATE '2013-01-31'
-- at: DATE '31.12.2013'
SELECT DATE '31.12.2013' FROM flights;
