-- error: TO_TIMESTAMP_LTZ does not take INT; say what the number counts: write TO_TIMESTAMP_LTZ(delay, 3) of milliseconds, with 0 of seconds
-- at: TO_TIMESTAMP_LTZ(delay)
SELECT TO_TIMESTAMP_LTZ(delay) FROM flights;
