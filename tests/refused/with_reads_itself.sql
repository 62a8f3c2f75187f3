-- error: the query of WITH n reads itself, and WITH RECURSIVE is not supported; write each step as a view, or a series of numbers as FROM UNNEST(SEQUENCE(1, 5)) AS u (n)
-- at: n
WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n;
