-- error: '999999999999' is longer than an interval can be; write at most 106751991 days
-- at: INTERVAL '999999999999' DAY
SELECT ts + INTERVAL '999999999999' DAY FROM flights;
