-- error: 2 does not belong here; write an interval of several parts as a text: INTERVAL '1 day 2 hours'
-- at: 2
SELECT ts + INTERVAL 1 DAYS 2 HOURS AS later FROM flights;
