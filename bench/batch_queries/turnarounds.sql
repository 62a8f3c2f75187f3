SELECT carrier, count(*) AS flights, count_if(before > 15) AS after_a_late_one
FROM (
  SELECT carrier, dep_delay, lag(arr_delay) OVER (PARTITION BY tailnum ORDER BY ts, dep_delay, arr_delay, carrier) AS before FROM flights)
WHERE dep_delay > 15 GROUP BY carrier
