-- error: PERCENTILE_CONT needs values: it is given nothing else; write PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY value)
-- at: PERCENTILE_CONT(0.5)
SELECT PERCENTILE_CONT(0.5) AS middle FROM flights;
