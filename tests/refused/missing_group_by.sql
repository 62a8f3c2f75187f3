-- error: carrier is neither in GROUP BY nor inside an aggregate; add carrier to GROUP BY origin, or aggregate it: MAX(carrier)
-- at: carrier
SELECT origin, carrier, COUNT(*) FROM flights GROUP BY origin;
