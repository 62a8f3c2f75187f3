-- error: GROUP BY in a subquery over the elements of an array of the row around it is not supported; write UNNEST in the FROM of the query around, and group that by a key of the row
-- at: 1 FROM UNNEST(tags) AS u (tag) GROUP BY tag
SELECT id FROM flights WHERE EXISTS (SELECT 1 FROM UNNEST(tags) AS u (tag) GROUP BY tag);
