-- error: 'flights' in quotes is the path of a file, and flights is a table; write TABLE flights
-- at: 'flights'
SELECT window_start, COUNT(*) AS n FROM TUMBLE('flights', DESCRIPTOR(ts), INTERVAL '1' HOUR) GROUP BY window_start, window_end;
