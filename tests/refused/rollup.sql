-- error: ROLLUP is not supported yet: write one GROUP BY for each set and UNION ALL
-- at: ROLLUP
SELECT origin, COUNT(*) FROM flights GROUP BY ROLLUP (origin);
