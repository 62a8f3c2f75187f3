-- error: ARRAY_AGG keeps NULLs; write COLLECT_LIST(origin), which leaves NULLs out
-- at: origin
SELECT ARRAY_AGG(origin IGNORE NULLS) FROM flights;
