-- error: two windows in one GROUP BY are not supported; keep one
-- at: HOP(ts, INTERVAL '1' MINUTE, INTERVAL '2' MINUTE)
SELECT COUNT(*) FROM flights GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE), HOP(ts, INTERVAL '1' MINUTE, INTERVAL '2' MINUTE);
