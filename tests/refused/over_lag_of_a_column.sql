-- error: LAG takes a constant whole number from 0 on; write LAG(value, 1, default), or CASE n WHEN 1 THEN LAG(value, 1) OVER (...) WHEN 2 THEN LAG(value, 2) OVER (...) END
-- at: delay
SELECT LAG(id, delay) OVER (ORDER BY id) FROM flights;
