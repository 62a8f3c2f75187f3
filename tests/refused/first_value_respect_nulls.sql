-- error: LAST_VALUE leaves NULLs out; write ARRAY_AGG(delay ORDER BY time DESC)[1], which keeps NULLs
-- at: LAST_VALUE(delay ORDER BY ts)
SELECT origin, LAST_VALUE(delay ORDER BY ts) RESPECT NULLS FROM flights GROUP BY origin;
