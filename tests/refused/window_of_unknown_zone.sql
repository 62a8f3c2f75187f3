-- error: there is no time zone 'Europe/Berln'; write a region as IANA spells it: 'Europe/Berlin'
-- at: 'Europe/Berln'
SELECT window_start, COUNT(*) AS n FROM TUMBLE(TABLE flights, DESCRIPTOR(ts), INTERVAL '1' DAY, 'Europe/Berln') GROUP BY window_start;
