-- error: VALUES has a row of 2 and one of 1 values; give each row as many
-- at: 3
SELECT * FROM (VALUES (1, 'a'), (3)) AS t (k, v);
