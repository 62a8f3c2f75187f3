-- error: AS does not belong here; write INTERVAL '2' DAY
-- at: AS
SELECT ts - 2 DAYS AS before FROM flights;
