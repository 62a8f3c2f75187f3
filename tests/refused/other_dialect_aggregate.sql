-- error: the aggregate TOPK is not supported yet; group first, and write QUALIFY ROW_NUMBER() OVER (PARTITION BY key ORDER BY value DESC) <= 3 above it; or SLICE(ARRAY_AGG(value ORDER BY value DESC), 1, 3)
-- at: TOPK(origin, 3)
SELECT TOPK(origin, 3) FROM flights;
