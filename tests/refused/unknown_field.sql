-- error: the field tale of plane does not exist; did you mean tail?
-- at: tale
SELECT plane.tale FROM flights;
