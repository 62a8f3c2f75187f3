-- error: ROW_NUMBER needs an order; add ORDER BY inside OVER (...)
-- at: ROW_NUMBER()
SELECT ROW_NUMBER() OVER (PARTITION BY origin) FROM flights;
