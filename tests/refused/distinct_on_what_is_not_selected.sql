-- error: ORDER BY does not begin with what DISTINCT ON names; begin it with carrier
-- at: id
SELECT DISTINCT ON (carrier) id FROM flights ORDER BY id;
