-- error: LIMIT of anything but a whole number is not supported: write LIMIT 10
-- at: LIMIT
SELECT id FROM flights LIMIT delay;
