-- error: TO does not belong here; write SET 'time.zone' = 'Europe/Berlin'
-- at: TO
SET TIMEZONE TO 'Europe/Berlin';
SELECT id FROM flights;
