-- error: COUNT is an aggregate: it stands inside another aggregate; aggregate in a subquery first
-- at: COUNT(*)
SELECT SUM(COUNT(*)) FROM flights;
