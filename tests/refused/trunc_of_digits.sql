-- error: there is no function TRUNC; write SIGN(distance) * FLOOR(ABS(distance) * 1e1) / 1e1 to cut, or ROUND(distance, 1)
-- at: TRUNC(distance, 1)
SELECT TRUNC(distance, 1) FROM flights;
