-- Keys are column, expression, ordinal and alias; one aggregate is used three times.
SELECT origin, delay / 60 AS hours, UPPER(carrier) AS airline, COUNT(*) AS n, SUM(delay) / COUNT(*) AS mean, COUNT(*) + 1 AS more
FROM flights
WHERE NOT late
GROUP BY 1, delay / 60, airline
HAVING COUNT(*) > 10 AND MAX(distance) < 1e3;
