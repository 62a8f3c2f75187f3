SELECT airport, count_if(flown) AS flown, count_if(NOT flown) AS cancelled
FROM (
  SELECT dep_delay IS NOT NULL AS flown, explode(CASE WHEN dep_delay IS NULL THEN array(origin) ELSE array(origin, dest) END) AS airport
  FROM flights)
GROUP BY airport HAVING count(*) > 10000
