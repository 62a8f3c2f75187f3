-- error: a hop of INTERVAL '10' MINUTE does not divide its window of INTERVAL '4' MINUTE; write a slide no longer than the window, or use TUMBLE
-- at: HOP(TABLE flights, DESCRIPTOR(ts), INTERVAL '10' MINUTE, INTERVAL '4' MINUTE)
SELECT window_end FROM HOP(TABLE flights, DESCRIPTOR(ts), INTERVAL '10' MINUTE, INTERVAL '4' MINUTE);
