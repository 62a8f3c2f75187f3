-- error: UPPER is no function of windows; there are CUME_DIST, DENSE_RANK, FIRST_VALUE, LAG, LAST_VALUE, LEAD, NTH_VALUE, NTILE, PERCENT_RANK, RANK, ROW_NUMBER and the aggregates
-- at: UPPER(origin)
SELECT UPPER(origin) OVER (ORDER BY id) FROM flights;
