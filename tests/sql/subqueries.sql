SELECT t.place, t.n * 2 AS twice FROM (SELECT origin, COUNT(*) FROM flights GROUP BY origin) AS t (place, n) WHERE n > 1;
