-- error: DATE_ADD takes a date and a number of days; write ts + INTERVAL '1' DAY
-- at: DATE_ADD(ts, INTERVAL 1 DAY)
SELECT DATE_ADD(ts, INTERVAL 1 DAY) AS later FROM flights;
