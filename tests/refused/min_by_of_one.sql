-- error: MIN_BY takes 2 values; write MIN_BY(value, by)
-- at: MIN_BY(origin)
SELECT MIN_BY(origin) FROM flights;
