-- error: there is no function PRINTF; write a text of its parts with ||, numbers as CAST(delay AS VARCHAR)
-- at: PRINTF('%d', delay)
SELECT PRINTF('%d', delay) FROM flights;
