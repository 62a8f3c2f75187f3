-- error: NTH_VALUE takes a whole number from 1 on; write NTH_VALUE(value, 2)
-- at: 2 - 2
SELECT NTH_VALUE(id, 2 - 2) OVER (ORDER BY id) FROM flights;
