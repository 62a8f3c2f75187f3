SELECT id, window_start, window_end FROM TABLE(HOP(TABLE flights, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '2' MINUTE)) WHERE late;
