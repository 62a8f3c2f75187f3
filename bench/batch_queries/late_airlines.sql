SELECT name, count(*) AS flights, avg(arr_delay) AS arr_delay
FROM flights JOIN airlines ON flights.carrier = airlines.carrier WHERE dep_delay > 60 AND origin = 'JFK' GROUP BY name
