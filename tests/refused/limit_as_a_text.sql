-- error: LIMIT of anything but a whole number is not supported: write LIMIT 2
-- at: LIMIT
SELECT id FROM flights LIMIT '2';
