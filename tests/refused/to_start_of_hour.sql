-- error: there is no function TOSTARTOFHOUR; write DATE_TRUNC('HOUR', ts)
-- at: toStartOfHour(ts)
SELECT toStartOfHour(ts) FROM flights;
