-- error: IGNORE NULLS and RESPECT NULLS are not supported; leave NULLs out in a subquery: WHERE value IS NOT NULL
-- at: LAG(delay)
SELECT LAG(delay) IGNORE NULLS OVER (ORDER BY id) FROM flights;
