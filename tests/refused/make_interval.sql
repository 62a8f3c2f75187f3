-- error: there is no function MAKE_INTERVAL; write the interval with its unit: INTERVAL '5' MINUTE, or TIMESTAMPADD(MINUTE, n, t) for a number n of minutes
-- at: make_interval(mins => delay)
SELECT ts + make_interval(mins => delay) AS left_at FROM flights;
