-- error: UNNEST without a table before it is not supported; write FROM t CROSS JOIN UNNEST(t.array) AS u(x)
-- at: ARRAY[1, 2]) AS u (x
SELECT x FROM UNNEST(ARRAY[1, 2]) AS u (x);
