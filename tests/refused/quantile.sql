-- error: there is no function QUANTILE; write PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY delay)
-- at: QUANTILE(delay, 0.9)
SELECT QUANTILE(delay, 0.9) FROM flights;
