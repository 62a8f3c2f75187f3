-- error: SET TIME ZONE is not supported; write SET 'time.zone' = 'Europe/Berlin'
-- at: SET LOCAL TIME ZONE
SET LOCAL TIME ZONE DEFAULT;
SELECT id FROM flights;
