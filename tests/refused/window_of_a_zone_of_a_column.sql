-- error: a window's time zone is a text in the query; write a name such as 'Europe/Berlin'
-- at: origin
SELECT window_start, COUNT(*) AS n FROM TUMBLE(flights, ts, INTERVAL '1' DAY, TIMEZONE => origin) GROUP BY window_start;
