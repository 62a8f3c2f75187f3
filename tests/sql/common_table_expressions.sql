WITH busy AS MATERIALIZED (SELECT origin, COUNT(*) AS n FROM flights GROUP BY origin), top (place) AS NOT MATERIALIZED (SELECT origin FROM busy WHERE n > 10)
SELECT place FROM top UNION ALL SELECT origin FROM busy;
