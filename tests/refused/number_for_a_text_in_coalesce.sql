-- error: COALESCE does not take (VARCHAR, INT); write COALESCE(origin, '0')
-- at: COALESCE(origin, 0)
SELECT COALESCE(origin, 0) FROM flights;
