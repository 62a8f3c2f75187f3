-- error: TUMBEL is not a table function; the table functions are TUMBLE, HOP, CUMULATE and SESSION
-- at: TUMBEL(TABLE flights, DESCRIPTOR(ts), INTERVAL '1' HOUR)
SELECT * FROM TABLE(TUMBEL(TABLE flights, DESCRIPTOR(ts), INTERVAL '1' HOUR));
