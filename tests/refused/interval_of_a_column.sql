-- error: MINUTE does not belong here; write delay * INTERVAL '1' MINUTE
-- at: MINUTE
SELECT ts + INTERVAL delay MINUTE AS left_at FROM flights;
