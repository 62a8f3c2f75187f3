-- error: HOP takes the slide before the size, and a slide of INTERVAL '1' HOUR is longer than a window of INTERVAL '15' MINUTE; write INTERVAL '15' MINUTE, INTERVAL '1' HOUR
-- at: HOP(TABLE flights, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '15' MINUTE)
SELECT window_start FROM HOP(TABLE flights, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '15' MINUTE);
