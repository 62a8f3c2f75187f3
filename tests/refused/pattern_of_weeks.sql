-- error: the date pattern 'ww' uses ww, which is not supported; use EXTRACT(WEEK FROM t)
-- at: DATE_FORMAT(ts, 'ww')
SELECT DATE_FORMAT(ts, 'ww') FROM flights;
