-- error: the aggregate TOPK is not supported yet; docs/functions.md lists those that are
-- at: TOPK(origin, 3)
SELECT TOPK(origin, 3) FROM flights;
