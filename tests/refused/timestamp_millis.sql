-- error: there is no function TIMESTAMP_MILLIS; write TO_TIMESTAMP_LTZ(delay, 3)
-- at: TIMESTAMP_MILLIS(delay)
SELECT TIMESTAMP_MILLIS(delay) FROM flights;
