SELECT origin, carrier, GROUPING(carrier) AS g, COUNT(*) AS n, MAX(carrier) AS last FROM flights GROUP BY ROLLUP (origin, carrier);
