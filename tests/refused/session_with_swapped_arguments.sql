-- error: the time column comes before the length of a window; write SESSION(ts, INTERVAL '10' MINUTE)
-- at: INTERVAL '5' MINUTE
SELECT COUNT(*) AS n FROM flights GROUP BY SESSION(INTERVAL '5' MINUTE, ts);
