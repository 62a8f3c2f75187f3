-- error: TO does not belong here; the session's time zone is UTC; name the zone where it matters, see docs/time-zones.md
-- at: TO
SET TIMEZONE TO 'Europe/Berlin';
SELECT id FROM flights;
