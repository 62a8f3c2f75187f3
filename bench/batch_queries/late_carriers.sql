SELECT window.start AS week_start, carrier, count(arr_delay), count_if(arr_delay > 60), sum(distance)
FROM flights GROUP BY window(ts, '7 days'), carrier
