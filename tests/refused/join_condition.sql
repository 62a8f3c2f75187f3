-- error: ON needs a BOOLEAN, this is VARCHAR; write a comparison
-- at: f.origin
SELECT f.id FROM flights AS f JOIN words AS w ON f.origin;
