-- error: NOT takes BOOLEAN, not VARCHAR; write a comparison
-- at: origin
SELECT origin FROM flights WHERE NOT origin;
