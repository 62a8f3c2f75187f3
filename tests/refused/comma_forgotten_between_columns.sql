-- error: delay does not belong here; a comma is missing: write id, origin, delay
-- at: delay
SELECT id origin delay FROM flights;
