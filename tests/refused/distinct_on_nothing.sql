-- error: DISTINCT ON names no column; write DISTINCT ON (column)
-- at: SELECT DISTINCT ON () origin, id FROM flights
SELECT DISTINCT ON () origin, id FROM flights;
