-- error: WITH TOTALS is not supported; write GROUP BY ROLLUP (a, b), whose last row is of all
-- at: WITH TOTALS
SELECT origin, COUNT(*) FROM flights GROUP BY origin WITH TOTALS;
