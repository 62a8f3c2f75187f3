-- error: GROUP BY of 128 sets is not supported: each row would be grouped so often; write GROUPING SETS with the 64 or fewer you want
-- at: id, ts, origin, carrier, delay, distance, fare
SELECT COUNT(*) FROM flights GROUP BY CUBE (id, ts, origin, carrier, delay, distance, fare);
