-- error: CUMULATE windows are not supported yet; TUMBLE and HOP are
-- at: CUMULATE
SELECT window_end FROM TABLE(CUMULATE(TABLE flights, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '1' HOUR));
