-- error: delay is INT and has no field minutes
-- at: minutes
SELECT delay.minutes FROM flights;
