SELECT CAST(week AS DATE) AS week, place, origin, dest, avg_delay
FROM (
  SELECT *, rank() OVER (PARTITION BY week ORDER BY avg_delay DESC) AS place
  FROM (
    SELECT window.start AS week, origin, dest, round(avg(arr_delay), 1) AS avg_delay
    FROM flights GROUP BY window(ts, '7 days'), origin, dest HAVING count(arr_delay) >= 20))
WHERE place <= 3
