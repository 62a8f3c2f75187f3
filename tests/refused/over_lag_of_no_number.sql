-- error: LAG takes a whole number; write LAG(value, 1, default)
-- at: 1.5
SELECT LAG(id, 1.5) OVER (ORDER BY id) FROM flights;
