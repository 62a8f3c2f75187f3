-- error: '99999999999' is longer than an interval can be; write at most 178956970 years
-- at: INTERVAL '99999999999' YEAR
SELECT ts + INTERVAL '99999999999' YEAR FROM flights;
