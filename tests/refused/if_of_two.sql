-- error: IF does not take (BOOLEAN, INT); write IF(delay > 0, delay, NULL)
-- at: IF(delay > 0, delay)
SELECT SUM(IF(delay > 0, delay)) FROM flights;
