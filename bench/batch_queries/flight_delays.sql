SELECT CAST(window.start AS DATE) AS departure_day, origin, count(*) AS flights, count_if(dep_delay IS NULL) AS cancelled,
  round(avg(dep_delay), 1) AS avg_delay, max(dep_delay) AS max_delay, round(1e2 * count_if(dep_delay > 15) / count(*), 1) AS late_percent
FROM flights GROUP BY window(ts, '1 day'), origin
