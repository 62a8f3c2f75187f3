-- error: there is no function DECODE; write CASE origin WHEN 'JFK' THEN 1 WHEN 'LAX' THEN 2 ELSE 0 END
-- at: DECODE(origin, 'JFK', 1, 'LAX', 2, 0)
SELECT DECODE(origin, 'JFK', 1, 'LAX', 2, 0) FROM flights;
