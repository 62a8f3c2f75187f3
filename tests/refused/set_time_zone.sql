-- error: SET TIME ZONE is not supported; write SET 'time.zone' = 'Europe/Berlin'
-- at: SET TIME ZONE 'Europe/Berlin'
SET TIME ZONE 'Europe/Berlin';
SELECT id FROM flights;
