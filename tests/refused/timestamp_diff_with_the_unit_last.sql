-- error: TIMESTAMP_DIFF takes the unit first, and then the earlier time; write TIMESTAMPDIFF(MINUTE, ts - INTERVAL '1' HOUR, ts)
-- at: TIMESTAMP_DIFF(ts, ts - INTERVAL '1' HOUR, MINUTE)
SELECT TIMESTAMP_DIFF(ts, ts - INTERVAL '1' HOUR, MINUTE) AS gap FROM flights;
