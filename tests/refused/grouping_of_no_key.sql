-- error: GROUPING takes keys of GROUP BY, and this is none
-- at: carrier
SELECT origin, GROUPING(carrier) FROM flights GROUP BY ROLLUP (origin);
