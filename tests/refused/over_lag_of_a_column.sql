-- error: LAG takes a constant whole number from 0 on; write LAG(value, 1, default)
-- at: delay
SELECT LAG(id, delay) OVER (ORDER BY id) FROM flights;
