-- error: SHOW COLUMNS is no statement here; write DESCRIBE flights
-- at: SHOW COLUMNS FROM flights
SHOW COLUMNS FROM flights;
