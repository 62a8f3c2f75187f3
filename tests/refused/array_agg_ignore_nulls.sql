-- error: ARRAY_AGG keeps NULLs; COLLECT_LIST leaves NULLs out
-- at: origin
SELECT ARRAY_AGG(origin IGNORE NULLS) FROM flights;
