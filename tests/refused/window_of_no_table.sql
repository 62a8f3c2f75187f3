-- error: there is no table flight; did you mean flights?
-- at: flight
SELECT window_end FROM TUMBLE(TABLE flight, DESCRIPTOR(ts), INTERVAL '1' MINUTE);
