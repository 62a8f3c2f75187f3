-- error: EXCLUDE is not supported; leave it out
-- at: EXCLUDE TIES
SELECT SUM(delay) OVER (ORDER BY id ROWS 2 PRECEDING EXCLUDE TIES) FROM flights;
