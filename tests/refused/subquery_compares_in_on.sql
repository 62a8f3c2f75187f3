-- error: f is of the query around, and a subquery compares with that in its WHERE alone; write the comparison there; of an array ARRAY_CONTAINS(array, value), or JOIN UNNEST in the query around
-- at: f
SELECT id FROM flights AS f WHERE EXISTS (SELECT 1 FROM words AS w JOIN words AS v ON w.word = v.word AND v.n = f.id);
