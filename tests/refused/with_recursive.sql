-- error: WITH RECURSIVE is not supported: write each step as a view, as many as there can be; or a series of numbers as FROM UNNEST(SEQUENCE(1, 5)) AS u (n)
-- at: RECURSIVE
WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 5) SELECT n FROM t;
