-- error: EXCEPT is not supported here
-- at: origin
SELECT * EXCEPT (origin) FROM flights;
