-- error: TUMBLE by the clock of 'Europe/Berlin' has windows of whole days, and INTERVAL '6' HOUR is none; leave 'Europe/Berlin' out, which cuts hours of UTC, or write INTERVAL '1' DAY
-- at: 'Europe/Berlin'
SELECT window_start, COUNT(*) AS n FROM TUMBLE(flights, ts, INTERVAL '6' HOUR, 'Europe/Berlin') GROUP BY window_start;
