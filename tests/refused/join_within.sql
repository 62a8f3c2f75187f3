-- error: WITHIN does not belong here; write the span in ON: ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '1' HOUR
-- at: WITHIN
SELECT a.id FROM flights a JOIN flights b WITHIN 1 HOUR ON a.id = b.id;
