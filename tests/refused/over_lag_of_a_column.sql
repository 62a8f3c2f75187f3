-- error: LAG takes a constant whole number, not one of each row; write LAG(value, 1, default), or CASE delay + 1 WHEN 1 THEN LAG(value, 1) OVER (...) WHEN 2 THEN LAG(value, 2) OVER (...) END
-- at: delay + 1
SELECT LAG(id, delay + 1) OVER (ORDER BY id) FROM flights;
