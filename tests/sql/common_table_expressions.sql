WITH busy AS (SELECT origin, COUNT(*) AS n FROM flights GROUP BY origin), top (place) AS (SELECT origin FROM busy WHERE n > 10)
SELECT place FROM top UNION ALL SELECT origin FROM busy;
