-- error: a hop of INTERVAL '3' MINUTE does not divide its window of INTERVAL '10' MINUTE; write HOP with a slide of INTERVAL '150' SECOND, or use TUMBLE
-- at: HOP(TABLE flights, DESCRIPTOR(ts), INTERVAL '3' MINUTE, INTERVAL '10' MINUTE)
SELECT window_end FROM HOP(TABLE flights, DESCRIPTOR(ts), INTERVAL '3' MINUTE, INTERVAL '10' MINUTE);
