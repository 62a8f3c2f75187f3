-- error: TUMBLE_START has no window here; write GROUP BY TUMBLE(time, INTERVAL '5' SECOND) in this query
-- at: TUMBLE_START(ts, INTERVAL '1' MINUTE)
SELECT TUMBLE_START(ts, INTERVAL '1' MINUTE) FROM flights;
