-- error: there is no function CHOOSE; write CASE delay WHEN 1 THEN 'a' WHEN 2 THEN 'b' END
-- at: CHOOSE(delay, 'a', 'b')
SELECT CHOOSE(delay, 'a', 'b') FROM flights;
