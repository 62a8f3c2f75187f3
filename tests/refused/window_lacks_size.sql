-- error: TUMBLE lacks its size; write TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
-- at: TUMBLE(TABLE flights, DESCRIPTOR(ts))
SELECT window_end FROM TUMBLE(TABLE flights, DESCRIPTOR(ts));
