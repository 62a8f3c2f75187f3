-- error: ISNULL does not take (INT, INT); write COALESCE(delay, 0)
-- at: ISNULL(delay, 0)
SELECT ISNULL(delay, 0) AS delay FROM flights;
