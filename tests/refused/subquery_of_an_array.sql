-- error: f is of the query around, and a subquery compares with that in its WHERE alone; write the comparison there; of an array ARRAY_CONTAINS(array, value), or JOIN UNNEST in the query around
-- at: f
SELECT id FROM flights AS f WHERE 'gate' IN (SELECT tag FROM UNNEST(f.tags) AS t (tag));
