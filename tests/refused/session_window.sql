-- error: SESSION windows are not supported yet; TUMBLE and HOP are
-- at: SESSION
SELECT window_end FROM TABLE(SESSION(TABLE flights, DESCRIPTOR(ts), INTERVAL '1' MINUTE));
