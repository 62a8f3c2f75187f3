-- error: NTILE takes a constant whole number, not one of each row; write NTILE(4)
-- at: delay
SELECT NTILE(delay) OVER (ORDER BY id) FROM flights;
