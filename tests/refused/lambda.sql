-- error: a lambda is not supported; write CROSS JOIN UNNEST(array) AS u (element), and ARRAY_AGG of what is computed
-- at: x -> x
SELECT UPPER(x -> x) FROM flights;
