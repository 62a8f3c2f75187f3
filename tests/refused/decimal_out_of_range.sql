-- error: DECIMAL(50, 2) is out of range; precision goes from 1 to 38 and scale from 0 to precision
-- at: DECIMAL
SELECT CAST(delay AS DECIMAL(50, 2)) FROM flights;
