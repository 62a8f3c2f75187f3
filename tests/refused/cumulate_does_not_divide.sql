-- error: a step of 180 s does not divide its window of 600 s; write CUMULATE with a step of INTERVAL '150' SECOND, or use TUMBLE
-- at: CUMULATE(TABLE flights, DESCRIPTOR(ts), INTERVAL '3' MINUTE, INTERVAL '10' MINUTE)
SELECT window_end FROM TABLE(CUMULATE(TABLE flights, DESCRIPTOR(ts), INTERVAL '3' MINUTE, INTERVAL '10' MINUTE));
