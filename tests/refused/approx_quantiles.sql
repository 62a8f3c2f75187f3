-- error: the aggregate APPROX_QUANTILES is not supported yet; write APPROX_PERCENTILE(value, 0.9) for each part that is asked for
-- at: APPROX_QUANTILES(delay, 4)
SELECT origin, APPROX_QUANTILES(delay, 4) AS q FROM flights GROUP BY origin;
