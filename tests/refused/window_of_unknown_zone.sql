-- error: there is no time zone 'Europe/Berln'; write a name such as 'UTC' or 'Europe/Berlin', as IANA spells it
-- at: 'Europe/Berln'
SELECT window_start, COUNT(*) AS n FROM TUMBLE(TABLE flights, DESCRIPTOR(ts), INTERVAL '1' DAY, 'Europe/Berln') GROUP BY window_start;
