-- error: * has no column origen; did you mean origin?
-- at: origen
SELECT * EXCEPT (origen) FROM flights;
