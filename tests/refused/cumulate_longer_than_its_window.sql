-- error: a step of INTERVAL '1' DAY does not divide its window of INTERVAL '5' HOUR; write a step no longer than the window, or use TUMBLE
-- at: CUMULATE(TABLE flights, DESCRIPTOR(ts), INTERVAL '1' DAY, INTERVAL '5' HOUR)
SELECT * FROM CUMULATE(TABLE flights, DESCRIPTOR(ts), INTERVAL '1' DAY, INTERVAL '5' HOUR);
