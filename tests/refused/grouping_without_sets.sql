-- error: GROUPING has no grouping sets here; write GROUP BY GROUPING SETS (...), CUBE (...) or ROLLUP (...)
-- at: GROUPING(origin)
SELECT origin, GROUPING(origin) FROM flights GROUP BY origin;
