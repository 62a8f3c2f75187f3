-- error: a window has a positive length; write INTERVAL '1' MINUTE
-- at: TUMBLE(TABLE flights, DESCRIPTOR(ts), INTERVAL '0' SECOND)
SELECT window_end FROM TUMBLE(TABLE flights, DESCRIPTOR(ts), INTERVAL '0' SECOND);
