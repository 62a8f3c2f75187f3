-- error: ORDER BY does not begin with what DISTINCT ON names; begin it with origin
-- at: id
SELECT DISTINCT ON (origin) origin, id FROM flights ORDER BY id;
