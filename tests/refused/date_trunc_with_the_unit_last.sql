-- error: DATE_TRUNC takes the unit first, as a text; write DATE_TRUNC('HOUR', ts)
-- at: DATE_TRUNC(ts, HOUR)
SELECT DATE_TRUNC(ts, HOUR) AS hour FROM flights;
