-- error: 2 values are compared, and this is 3; write as many in parentheses
-- at: 1, 2, 3
SELECT id FROM flights WHERE (id, delay) IN ((1, 2), (1, 2, 3));
