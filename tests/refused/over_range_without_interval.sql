-- error: a frame is bounded by a number or an interval; write RANGE INTERVAL '1' HOUR PRECEDING
-- at: RANGE 1 HOUR PRECEDING
SELECT COUNT(*) OVER (ORDER BY ts RANGE 1 HOUR PRECEDING) FROM flights;
